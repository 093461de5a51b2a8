// TensorBoard's event files. Framing: TFRecord (length, masked CRC-32C of it, data, masked CRC-32C of that). Data: an
// Event of tensorflow/core/util/event.proto; of its summaries the scalars, as simple_value or as a tensor of one
// element.
#include "engine/core/error.h"
#include "engine/import/growing_file.h"
#include "engine/import/log_formats.h"
#include "engine/import/masked_crc32c.h"
#include "engine/import/wire_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

namespace mantissa {

namespace {

constexpr std::size_t headerBytes = 12;
constexpr std::size_t checksumBytes = 4;
constexpr std::size_t bufferBytes = std::size_t {1} << 20U;
constexpr std::uint64_t mostParsed = std::uint64_t {64} << 20U; // pictures and graphs may be larger, scalars never are

template <typename Number> Number numberAt(std::span<const std::byte> bytes, std::size_t at)
{
    Number number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

/// The length of the record whose header this is; nothing if its checksum does not fit.
std::optional<std::uint64_t> lengthIn(std::span<const std::byte> header)
{
    return masked(crc32c(header.first(8))) == numberAt<std::uint32_t>(header, 8)
        ? std::optional(numberAt<std::uint64_t>(header, 0))
        : std::nullopt;
}

struct Scalar
{
    std::string_view tag;
    double value = 0;
};

/// Of an Event, what an import wants.
struct ScalarEvent
{
    double unixSeconds = 0;
    std::int64_t step = 0;
    std::vector<Scalar> scalars;
};

/// A Summary.Value, if it is a scalar.
std::optional<Scalar> scalarIn(std::span<const std::byte> message, bool& isWhole)
{
    Scalar scalar;
    std::optional<double> value;
    WireReader reader(message);
    while (const auto field = reader.next()) {
        if (field->number == 1 && field->kind == WireKind::Bytes) {
            scalar.tag = textOf(field->bytes);
        } else if (field->number == 2 && field->kind == WireKind::Fixed32) {
            value = field->asFloat();
        } else if (field->number == 8 && field->kind == WireKind::Bytes) {
            value = scalarOfTensor(field->bytes);
        }
    }
    isWhole = isWhole && !reader.isBroken();
    if (!value || scalar.tag.empty()) {
        return {};
    }
    scalar.value = *value;
    return scalar;
}

/// Nothing if the bytes are no message.
std::optional<ScalarEvent> eventIn(std::span<const std::byte> message)
{
    ScalarEvent event;
    bool isWhole = true;
    WireReader reader(message);
    while (const auto field = reader.next()) {
        if (field->number == 1 && field->kind == WireKind::Fixed64) {
            event.unixSeconds = field->asDouble();
        } else if (field->number == 2 && field->kind == WireKind::Varint) {
            event.step = static_cast<std::int64_t>(field->bits);
        } else if (field->number == 5 && field->kind == WireKind::Bytes) {
            WireReader values(field->bytes);
            while (const auto value = values.next()) {
                if (value->number != 1 || value->kind != WireKind::Bytes) {
                    continue;
                }
                if (auto scalar = scalarIn(value->bytes, isWhole)) {
                    event.scalars.push_back(*scalar);
                }
            }
            isWhole = isWhole && !values.isBroken();
        }
    }
    return isWhole && !reader.isBroken() ? std::optional(std::move(event)) : std::nullopt;
}

/// One event file.
class EventFile
{
public:
    explicit EventFile(const std::filesystem::path& path)
        : m_file(path)
    {
    }

    /// The next record that is parsed; nothing: there is none for now, or the file is damaged here.
    std::optional<std::span<const std::byte>> next()
    {
        while (!m_isDamaged && fill(headerBytes)) {
            const auto length = lengthIn(present());
            if (!length) {
                return damaged();
            }
            // What is not there yet is waited for, and nothing is made room for that the file does not hold.
            const std::uint64_t left = m_file.size() - std::min(m_file.size(), position() + headerBytes);
            if (left < checksumBytes || *length > left - checksumBytes) {
                return {};
            }
            if (*length > mostParsed) {
                if (!passOver(*length)) {
                    return damaged();
                }
                ++m_records;
                continue;
            }
            const auto size = static_cast<std::size_t>(*length);
            if (!fill(headerBytes + size + checksumBytes)) {
                return {};
            }
            const auto data = present().subspan(headerBytes, size);
            if (masked(crc32c(data)) != numberAt<std::uint32_t>(present(), headerBytes + size)) {
                return damaged();
            }
            m_begin += headerBytes + size + checksumBytes;
            ++m_records;
            return data;
        }
        return {};
    }

    [[nodiscard]] bool isDamaged() const { return m_isDamaged; }

    /// Whether bytes are left that make no whole record.
    [[nodiscard]] bool isCutOff() const { return !m_isDamaged && position() < m_file.size(); }

    [[nodiscard]] std::uint64_t records() const { return m_records; }

    /// Of the next record.
    [[nodiscard]] std::uint64_t position() const { return m_file.position() - (m_buffer.size() - m_begin); }

    [[nodiscard]] const GrowingFile& file() const { return m_file; }

private:
    [[nodiscard]] std::span<const std::byte> present() const { return std::span(m_buffer).subspan(m_begin); }

    /// Makes `bytes` of them present; false if the file ends before.
    bool fill(std::size_t bytes)
    {
        if (m_buffer.size() - m_begin >= bytes) {
            return true;
        }
        m_buffer.erase(m_buffer.begin(), m_buffer.begin() + static_cast<std::ptrdiff_t>(m_begin));
        m_begin = 0;
        const std::size_t before = m_buffer.size();
        const std::uint64_t left = m_file.size() - std::min(m_file.size(), m_file.position());
        m_buffer.resize(before + static_cast<std::size_t>(std::min<std::uint64_t>(left, std::max(bytes, bufferBytes))));
        m_buffer.resize(before + m_file.read(std::span(m_buffer).subspan(before)));
        return m_buffer.size() >= bytes;
    }

    /// Checks a record in pieces.
    bool passOver(std::uint64_t length)
    {
        m_begin += headerBytes;
        std::uint32_t crc = 0;
        while (length > 0) {
            if (!fill(static_cast<std::size_t>(std::min<std::uint64_t>(length, bufferBytes)))) {
                return false;
            }
            const auto piece
                = present().first(static_cast<std::size_t>(std::min<std::uint64_t>(length, present().size())));
            crc = crc32c(piece, crc);
            m_begin += piece.size();
            length -= piece.size();
        }
        if (!fill(checksumBytes) || masked(crc) != numberAt<std::uint32_t>(present(), 0)) {
            return false;
        }
        m_begin += checksumBytes;
        return true;
    }

    std::nullopt_t damaged()
    {
        m_isDamaged = true;
        return std::nullopt;
    }

    GrowingFile m_file;
    std::vector<std::byte> m_buffer;
    std::size_t m_begin = 0; ///< of what is not used yet
    std::uint64_t m_records = 0;
    bool m_isDamaged = false;
};

/// The seconds in "events.out.tfevents.1700000000.host": files of one folder go on from each other in their order.
std::int64_t secondsIn(const std::filesystem::path& file)
{
    constexpr std::string_view word = "tfevents.";
    const std::string name = file.filename().string();
    const auto at = name.find(word);
    std::int64_t seconds = 0;
    if (at != std::string::npos) {
        std::from_chars(name.data() + at + word.size(), name.data() + name.size(), seconds);
    }
    return seconds;
}

class EventLog : public LogReader
{
public:
    EventLog(std::filesystem::path path, bool isFolder)
        : m_path(std::move(path))
        , m_isFolder(isFolder)
    {
        if (isFolder) {
            findFiles();
        } else {
            m_parts.push_back({std::make_unique<EventFile>(m_path), runNamed("")});
        }
    }

    [[nodiscard]] bool isEmpty() const { return m_parts.empty(); }

    [[nodiscard]] std::string_view format() const override { return "tfevents"; }

    bool read(std::uint64_t mostBytes, const RowTaker& take) override
    {
        const std::uint64_t end = bytesRead() + mostBytes;
        for (bool isNew = true; isNew; isNew = m_isFolder && findFiles()) {
            for (Part& part : m_parts) {
                while (const auto record = part.file->next()) {
                    takeRecord(part, *record, take);
                    if (part.file->records() % 1024 == 0 && bytesRead() >= end) {
                        return true;
                    }
                }
                if (part.file->isDamaged() && !part.isReported) {
                    part.isReported = true;
                    note(part.file->file().path().string(),
                        fmt::format(
                            "{} is damaged at byte {}: a checksum is wrong. The {} records before it were read.",
                            part.file->file().path().filename().string(), part.file->position(), part.file->records()));
                }
            }
        }
        return false;
    }

    void finish(const RowTaker& /*take*/) override
    {
        for (const Part& part : m_parts) {
            if (part.file->isCutOff()) {
                note("cut off " + part.file->file().path().string(),
                    fmt::format("{} ends within a record, as one does that is still written: {} records were read.",
                        part.file->file().path().filename().string(), part.file->records()));
            }
        }
    }

    [[nodiscard]] std::uint64_t bytesRead() const override
    {
        std::uint64_t bytes = 0;
        for (const Part& part : m_parts) {
            bytes += part.file->position();
        }
        return bytes;
    }

    [[nodiscard]] std::uint64_t bytesThere() const override
    {
        std::uint64_t bytes = 0;
        for (const Part& part : m_parts) {
            bytes += part.file->isDamaged() ? part.file->position() : part.file->file().size();
        }
        return bytes;
    }

    [[nodiscard]] bool wasReplaced() const override
    {
        return std::ranges::any_of(m_parts, [](const Part& part) { return part.file->file().wasReplaced(); });
    }

    [[nodiscard]] bool isDamaged() const override
    {
        return std::ranges::all_of(m_parts, [](const Part& part) { return part.file->isDamaged(); });
    }

private:
    struct Part
    {
        std::unique_ptr<EventFile> file;
        std::uint32_t run = 0;
        bool isContinuation = false; ///< of an earlier file, and nothing of it was taken yet
        bool isReported = false;
    };

    void takeRecord(Part& part, std::span<const std::byte> record, const RowTaker& take)
    {
        const auto event = eventIn(record);
        if (!event) {
            note("no event",
                fmt::format("record {} of {} is no event, though its checksum is right: passed over",
                    part.file->records(), part.file->file().path().filename().string()));
            return;
        }
        if (event->scalars.empty()) {
            return;
        }
        m_cells.clear();
        for (const Scalar& scalar : event->scalars) {
            m_cells.push_back({columnNamed(scalar.tag), scalar.value, true});
        }
        take({part.run, event->step, event->unixSeconds, m_cells, std::exchange(part.isContinuation, false)});
    }

    /// True if there are new ones.
    bool findFiles()
    {
        constexpr std::size_t mostFiles = 4096;
        constexpr int mostEntries = 200'000;
        constexpr int deepest = 8;
        std::vector<std::filesystem::path> found;
        int entries = 0;
        std::error_code error;
        auto entry = std::filesystem::recursive_directory_iterator(
            m_path, std::filesystem::directory_options::skip_permission_denied, error);
        for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
            if (entry.depth() >= deepest) {
                entry.disable_recursion_pending();
            }
            std::error_code ignored;
            const bool isOne = entry->path().filename().string().find("tfevents") != std::string::npos
                && entry->is_regular_file(ignored) && entry->file_size(ignored) > 0;
            if (isOne && std::ranges::none_of(m_parts, [&](const Part& part) {
                    return part.file->file().path() == entry->path();
                })) {
                found.push_back(entry->path());
            }
            if (++entries > mostEntries || m_parts.size() + found.size() > mostFiles) {
                throw Error(ErrorCode::InvalidArgument,
                    fmt::format("{} holds more than {} event files or {} files in all: give a folder below it",
                        m_path.string(), mostFiles, mostEntries));
            }
        }
        std::ranges::sort(found, {}, [](const std::filesystem::path& file) {
            return std::tuple(file.parent_path(), secondsIn(file), file.filename());
        });
        for (const std::filesystem::path& file : found) {
            const std::string name = file.parent_path().lexically_relative(m_path).generic_string();
            const std::uint32_t run = runNamed(name == "." ? "" : name);
            const bool isContinuation = std::ranges::find(m_parts, run, &Part::run) != m_parts.end();
            m_parts.push_back({std::make_unique<EventFile>(file), run, isContinuation});
        }
        return !found.empty();
    }

    std::filesystem::path m_path;
    bool m_isFolder;
    std::vector<Part> m_parts;
    std::vector<LogCell> m_cells;
};

} // namespace

bool isEventFile(std::string_view head)
{
    return head.size() >= headerBytes && lengthIn(std::as_bytes(std::span(head))).has_value();
}

std::unique_ptr<LogReader> openEventFile(const std::filesystem::path& file)
{
    return std::make_unique<EventLog>(file, false);
}

std::unique_ptr<LogReader> openEventFolder(const std::filesystem::path& folder)
{
    auto log = std::make_unique<EventLog>(folder, true);
    if (log->isEmpty()) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("the folder {} has no event files of TensorBoard (…tfevents…) in it; name a log file instead",
                folder.string()));
    }
    return log;
}

} // namespace mantissa
