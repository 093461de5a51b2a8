// A text as a sequence of characters.
#include "engine/core/error.h"
#include "engine/core/utf8.h"
#include "engine/data/byte_source.h"
#include "engine/data/sources.h"
#include "engine/data/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace mantissa {

namespace {

constexpr std::size_t mostBytes = std::size_t {64} << 20U;
constexpr std::size_t mostCharacters = 4096;

[[noreturn]] void refuse(const std::string& file, const std::string& what)
{
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} {}", file, what));
}

std::string readBytes(ByteSource& source)
{
    std::string bytes;
    constexpr std::size_t chunk = std::size_t {1} << 20U;
    for (std::size_t got = chunk; got == chunk;) {
        const std::size_t begin = bytes.size();
        bytes.resize(begin + chunk);
        got = source.read({reinterpret_cast<unsigned char*>(bytes.data()) + begin, chunk});
        bytes.resize(begin + got);
        if (bytes.size() > mostBytes) {
            refuse(
                source.name(), fmt::format("holds more than {} MiB of text; cut out a part of it", mostBytes >> 20U));
        }
    }
    return bytes;
}

/// Calls use(code point) for each character, without a byte order mark and the first half of CR LF.
template <typename Use> void forEachCharacter(std::string_view text, const std::string& file, Use use)
{
    constexpr char32_t byteOrderMark = 0xFEFF;
    for (std::size_t at = 0; at < text.size();) {
        const auto point = decodeUtf8(text.substr(at));
        if (!point) {
            refuse(file,
                fmt::format("is not UTF-8: byte {} (0x{:02x}) begins no character; save it as UTF-8, or give a text "
                            "file",
                    at, static_cast<unsigned char>(text[at])));
        }
        const bool isMark = at == 0 && point->value == byteOrderMark;
        if (!isMark && !text.substr(at).starts_with("\r\n")) {
            use(point->value);
        }
        at += point->bytes;
    }
}

std::string readableName(char32_t character)
{
    switch (character) {
    case U'\n':
        return "newline";
    case U' ':
        return "space";
    case U'\t':
        return "tab";
    default:
        break;
    }
    const bool isControl = character < 0x20 || (character >= 0x7F && character <= 0xA0) || character == 0xAD;
    const bool isBlank = (character >= 0x2000 && character <= 0x200F) || (character >= 0x2028 && character <= 0x202F)
        || (character >= 0x205F && character <= 0x206F) || character == 0x3000 || character == 0xFEFF;
    return isControl || isBlank ? fmt::format("U+{:04X}", static_cast<std::uint32_t>(character))
                                : encodeUtf8(character);
}

/// The distinct characters in ascending order.
std::vector<char32_t> vocabularyOf(std::string_view text, const std::string& file)
{
    std::unordered_set<char32_t> seen;
    forEachCharacter(text, file, [&](char32_t character) {
        seen.insert(character);
        if (seen.size() > mostCharacters) {
            refuse(file,
                fmt::format("has more than {} distinct characters; a model of characters needs a text of fewer",
                    mostCharacters));
        }
    });
    std::vector<char32_t> characters(seen.begin(), seen.end());
    std::ranges::sort(characters);
    return characters;
}

/// The token of each character.
std::vector<std::int32_t> tokensOf(
    std::string_view text, const std::string& file, const std::vector<char32_t>& vocabulary)
{
    std::unordered_map<char32_t, std::int32_t> tokenOf;
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
        tokenOf[vocabulary[i]] = static_cast<std::int32_t>(i);
    }
    std::vector<std::int32_t> tokens;
    tokens.reserve(text.size());
    forEachCharacter(text, file, [&](char32_t character) { tokens.push_back(tokenOf.at(character)); });
    return tokens;
}

/// Samples before a border of the text and behind it; `length` characters are there, and a sample's last label is the
/// character behind it.
void splitAtBorder(Dataset& dataset, std::int64_t length, double validationShare, const std::string& file)
{
    const std::int64_t stride = dataset.tokenStride;
    const std::int64_t window = dataset.features + 1;
    // In strides: samples begin at these only, so that the border is one of them.
    const std::int64_t lowest = (window + stride - 1) / stride;
    const std::int64_t highest = (length - window) / stride;
    if (length < window || lowest > highest) {
        refuse(file,
            fmt::format("holds {} characters, too few for two samples of data.context = {}, one to train on and one "
                        "to hold out; give a longer text or a shorter context",
                length, dataset.features));
    }
    const std::int64_t held = heldOut(length, validationShare);
    const std::int64_t border = held == 0 ? length : std::clamp((length - held) / stride, lowest, highest) * stride;
    dataset.samples = highest + 1;
    for (std::int64_t i = 0; i < dataset.samples; ++i) {
        if (i * stride + window <= border) {
            dataset.train.push_back(static_cast<std::uint32_t>(i));
        } else if (i * stride >= border) {
            dataset.validation.push_back(static_cast<std::uint32_t>(i));
        }
    }
}

} // namespace

Dataset loadText(const DataRequest& request)
{
    const std::unique_ptr<ByteSource> source = openFile(request.path);
    const std::string& file = source->name();
    Dataset dataset;
    {
        const std::string text = readBytes(*source);
        const std::vector<char32_t> vocabulary = vocabularyOf(text, file);
        dataset.tokens = tokensOf(text, file, vocabulary);
        for (const char32_t character : vocabulary) {
            dataset.classNames.push_back(readableName(character));
        }
    }
    dataset.features = request.config.context;
    dataset.sampleShape = {dataset.features};
    dataset.tokenStride = request.config.stride == 0 ? request.config.context : request.config.stride;
    dataset.vocabulary = static_cast<std::int64_t>(dataset.classNames.size());
    dataset.classes = dataset.vocabulary;
    dataset.labelsTokens = true;
    splitAtBorder(dataset, static_cast<std::int64_t>(dataset.tokens.size()), request.config.validationShare, file);
    // The label of each token is the next one; the last has none.
    dataset.labels.assign(dataset.tokens.begin() + 1, dataset.tokens.end());
    dataset.tokens.pop_back();
    return dataset;
}

} // namespace mantissa
