/// Reads IDX files, the format of MNIST: big-endian magic (two zero bytes, the type of the values, the number of
/// dimensions), the dimensions, the values.
/// Source: Y. LeCun, C. Cortes, C. Burges, "The MNIST database of handwritten digits", section "File formats".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace mantissa {

/// The contents a file is expected to have; the value is its number of dimensions.
enum class IdxContents : std::uint8_t {
    Labels = 1, ///< [n]
    Images = 3, ///< [n, rows, columns]
};

/// Unsigned bytes, row-major.
struct IdxArray
{
    std::vector<std::int64_t> dims; ///< each at least 1
    std::vector<std::uint8_t> values;
};

/// The most values a file may hold: 256 Mi, four times MNIST's training images and room to spare.
inline constexpr std::uint64_t mostIdxValues = std::uint64_t {1} << 28U;

/// Reads a plain or gzip-compressed file, told apart by its first bytes. Memory grows with what the file really holds,
/// whatever its header claims, and never beyond mostIdxValues.
/// Throws Error (InvalidArgument), naming the file and what was found, for a file that is missing, empty, truncated,
/// damaged, longer than its header says, or that holds something else; Error (Io) if it exists but cannot be read.
IdxArray readIdxFile(const std::filesystem::path& file, IdxContents expected);

/// The same for a plain file's bytes in memory; `name` stands for the file in messages.
IdxArray parseIdx(std::span<const unsigned char> bytes, IdxContents expected, const std::string& name);

} // namespace mantissa
