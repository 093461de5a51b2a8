#include "engine/tensor/safetensors.h"

#include "engine/core/error.h"
#include "engine/core/json_text.h"
#include "engine/core/replaced_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

namespace mantissa {

namespace {

using json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

constexpr std::size_t lengthBytes = 8;
constexpr auto metadataKey = "__metadata__";

struct ElementType
{
    std::string_view name;
    std::size_t bytes;
    std::optional<DType> dtype;
};

constexpr std::array elementTypes {
    ElementType {"F64", 8, DType::Float64},
    ElementType {"F32", 4, DType::Float32},
    ElementType {"F16", 2, DType::Float16},
    ElementType {"BF16", 2, DType::BFloat16},
    ElementType {"I32", 4, DType::Int32},
    ElementType {"U8", 1, DType::UInt8},
    ElementType {"I64", 8, {}},
    ElementType {"U64", 8, {}},
    ElementType {"U32", 4, {}},
    ElementType {"I16", 2, {}},
    ElementType {"U16", 2, {}},
    ElementType {"I8", 1, {}},
    ElementType {"BOOL", 1, {}},
    ElementType {"F8_E4M3", 1, {}},
    ElementType {"F8_E5M2", 1, {}},
};

const ElementType* elementType(std::string_view name)
{
    const auto found = std::ranges::find(elementTypes, name, &ElementType::name);
    return found == elementTypes.end() ? nullptr : &*found;
}

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what)
{
    throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", file.string(), what));
}

[[noreturn]] void failIo(const std::filesystem::path& file, std::string_view action, int error)
{
    throw Error(ErrorCode::Io,
        fmt::format("{} cannot be {}: {}.", file.string(), action, std::generic_category().message(error)));
}

struct Entry
{
    StoredTensor tensor;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// The bytes of `dims` elements; nothing if that is more than a file can have.
std::optional<std::uint64_t> bytesOf(const std::vector<std::int64_t>& dims, std::size_t elementBytes)
{
    std::uint64_t bytes = elementBytes;
    for (const std::int64_t dim : dims) {
        const auto factor = static_cast<std::uint64_t>(dim);
        if (factor != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / factor) {
            return std::nullopt;
        }
        bytes *= factor;
    }
    return bytes;
}

std::vector<std::int64_t> readDims(const std::filesystem::path& file, const std::string& name, const json& shape)
{
    constexpr std::size_t mostAxes = 16;
    std::vector<std::int64_t> dims;
    if (shape.is_array() && shape.size() <= mostAxes) {
        for (const json& size : shape) {
            const auto dim = integerOf<std::int64_t>(size);
            if (dim && *dim >= 0) {
                dims.push_back(*dim);
            }
        }
    }
    if (!shape.is_array() || dims.size() != shape.size()) {
        refuse(file,
            fmt::format("the shape of the tensor \"{}\" is {}; it must be a list of at most {} whole numbers", name,
                shortText(shape), mostAxes));
    }
    return dims;
}

Entry readEntry(const std::filesystem::path& file, const std::string& name, const json& description)
{
    if (!description.is_object() || !description.contains("dtype") || !description.contains("shape")
        || !description.contains("data_offsets")) {
        refuse(file, fmt::format("the tensor \"{}\" lacks dtype, shape or data_offsets", name));
    }
    const json& dtype = description.at("dtype");
    const ElementType* type = dtype.is_string() ? elementType(dtype.get_ref<const std::string&>()) : nullptr;
    if (type == nullptr) {
        refuse(file, fmt::format("the tensor \"{}\" has the unknown dtype {}", name, shortText(dtype)));
    }
    const std::vector<std::int64_t> dims = readDims(file, name, description.at("shape"));
    const json& offsets = description.at("data_offsets");
    const bool isPair = offsets.is_array() && offsets.size() == 2;
    const auto begin = isPair ? integerOf<std::uint64_t>(offsets[0]) : std::nullopt;
    const auto end = isPair ? integerOf<std::uint64_t>(offsets[1]) : std::nullopt;
    if (!begin || !end || *begin > *end) {
        refuse(file,
            fmt::format("the data_offsets of the tensor \"{}\" are {}; they must be two whole numbers, the second not "
                        "below the first",
                name, shortText(offsets)));
    }
    const auto bytes = bytesOf(dims, type->bytes);
    if (!bytes || *bytes != *end - *begin) {
        refuse(file,
            fmt::format("the tensor \"{}\" of dtype {} and shape {} does not take the {} bytes that its data_offsets "
                        "span",
                name, type->name, Shape(dims).text(), *end - *begin));
    }
    return {{name, std::string(type->name), Shape(dims), {}}, *begin, *end};
}

void readMetadata(const std::filesystem::path& file, const json& texts, Safetensors& into)
{
    if (!texts.is_object()) {
        refuse(file, "__metadata__ is no object");
    }
    for (const auto& [key, text] : texts.items()) {
        if (!text.is_string()) {
            refuse(file, fmt::format("__metadata__ \"{}\" is {}; it must be a text", key, shortText(text)));
        }
        into.metadata[key] = text.get<std::string>();
    }
}

/// The tensors lie one behind the other, from the first byte of the data to the last.
void checkCover(const std::filesystem::path& file, const std::vector<Entry>& entries, std::uint64_t dataBytes)
{
    std::uint64_t reached = 0;
    for (const Entry& entry : entries) {
        if (entry.end > dataBytes) {
            refuse(file,
                fmt::format("the tensor \"{}\" ends at byte {} of the data, but there are only {}; the file is cut off "
                            "or damaged",
                    entry.tensor.name, entry.end, dataBytes));
        }
        if (entry.begin != reached) {
            refuse(file,
                fmt::format("the data of the tensor \"{}\" {}", entry.tensor.name,
                    entry.begin < reached ? "overlaps another tensor's" : "leaves a gap before it"));
        }
        reached = entry.end;
    }
    if (reached != dataBytes) {
        refuse(file, fmt::format("{} bytes at its end belong to no tensor", dataBytes - reached));
    }
}

std::string readHeader(std::ifstream& in, const std::filesystem::path& file, std::uint64_t fileBytes)
{
    std::array<char, lengthBytes> start {};
    if (fileBytes < lengthBytes || !in.read(start.data(), start.size())) {
        refuse(file, "is too short to be a safetensors file");
    }
    const auto length = std::bit_cast<std::uint64_t>(start);
    if (length > fileBytes - lengthBytes) {
        refuse(file,
            fmt::format("says that its header has {} bytes, but only {} follow; it is cut off, or no safetensors file",
                length, fileBytes - lengthBytes));
    }
    if (length > maxJsonBytes) {
        refuse(file, fmt::format("says that its header has {} bytes; at most {} are read", length, maxJsonBytes));
    }
    std::string header(length, '\0');
    if (!in.read(header.data(), static_cast<std::streamsize>(length))) {
        failIo(file, "read", EIO);
    }
    if (header.empty() || header.front() != '{') {
        refuse(file, "has a header that does not begin with \"{\"; it is damaged, or no safetensors file");
    }
    return header;
}

/// A file descriptor that is closed, and a file that is removed unless it was kept.
class PartialFile
{
public:
    explicit PartialFile(std::filesystem::path file)
        : m_file(std::move(file))
        , m_descriptor(open(m_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666))
    {
        if (m_descriptor < 0) {
            failIo(m_file, "written", errno);
        }
    }

    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    ~PartialFile()
    {
        if (m_descriptor >= 0) {
            close(m_descriptor);
            unlink(m_file.c_str());
        }
    }

    void write(std::span<const std::byte> bytes)
    {
        while (!bytes.empty()) {
            const ssize_t written = ::write(m_descriptor, bytes.data(), bytes.size());
            if (written < 0 && errno != EINTR) {
                failIo(m_file, "written", errno);
            }
            bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
        }
    }

    void moveTo(const std::filesystem::path& target)
    {
        if (fsync(m_descriptor) != 0) {
            failIo(m_file, "written", errno);
        }
        if (rename(m_file.c_str(), target.c_str()) != 0) {
            failIo(target, "replaced", errno);
        }
        close(std::exchange(m_descriptor, -1));
        // Without this the name could still be lost with the power; a folder that cannot be opened keeps its file.
        const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
        if (const int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); directory >= 0) {
            fsync(directory);
            close(directory);
        }
    }

private:
    std::filesystem::path m_file;
    int m_descriptor;
};

} // namespace

std::optional<DType> StoredTensor::type() const
{
    const ElementType* found = elementType(dtype);
    return found == nullptr ? std::nullopt : found->dtype;
}

std::string safetensorsName(DType dtype)
{
    return std::string(std::ranges::find(elementTypes, std::optional(dtype), &ElementType::dtype)->name);
}

const StoredTensor* Safetensors::find(const std::string& name) const
{
    const auto found = std::ranges::find(tensors, name, &StoredTensor::name);
    return found == tensors.end() ? nullptr : &*found;
}

Safetensors readSafetensors(const std::filesystem::path& file)
{
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) {
        failIo(file, "read", EISDIR);
    }
    std::ifstream in(file, std::ios::binary);
    const std::uint64_t fileBytes = in ? std::filesystem::file_size(file, error) : 0;
    if (!in || error) {
        failIo(file, "read", error ? error.value() : errno);
    }
    const std::string header = readHeader(in, file, fileBytes);
    const json names = parseJson(header, file.string() + ", header");
    Safetensors contents;
    std::vector<Entry> entries;
    for (const auto& [name, description] : names.items()) {
        if (name == metadataKey) {
            readMetadata(file, description, contents);
        } else {
            entries.push_back(readEntry(file, name, description));
        }
    }
    std::ranges::stable_sort(entries, {}, [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
    checkCover(file, entries, fileBytes - lengthBytes - header.size());
    for (Entry& entry : entries) {
        entry.tensor.bytes.resize(entry.end - entry.begin);
        if (!in.read(reinterpret_cast<char*>(entry.tensor.bytes.data()),
                static_cast<std::streamsize>(entry.tensor.bytes.size()))) {
            failIo(file, "read", EIO);
        }
        contents.tensors.push_back(std::move(entry.tensor));
    }
    return contents;
}

void writeSafetensors(const std::filesystem::path& file, const Safetensors& contents)
{
    json header = json::object();
    if (!contents.metadata.empty()) {
        header[metadataKey] = contents.metadata;
    }
    std::uint64_t offset = 0;
    for (const StoredTensor& tensor : contents.tensors) {
        if (header.contains(tensor.name)) {
            refuse(file, fmt::format("two tensors are named \"{}\"", tensor.name));
        }
        const std::uint64_t end = offset + tensor.bytes.size();
        header[tensor.name]
            = {{"dtype", tensor.dtype}, {"shape", tensor.shape.dims()}, {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text = header.dump();
    text.append((lengthBytes - text.size() % lengthBytes) % lengthBytes, ' '); // so that the data is aligned
    const auto length = std::bit_cast<std::array<std::byte, lengthBytes>>(static_cast<std::uint64_t>(text.size()));
    const std::filesystem::path target = replacedFile(file);
    PartialFile partial(target.string() + ".partial");
    partial.write(length);
    partial.write(std::as_bytes(std::span(text)));
    for (const StoredTensor& tensor : contents.tensors) {
        partial.write(tensor.bytes);
    }
    partial.moveTo(target);
}

} // namespace mantissa
