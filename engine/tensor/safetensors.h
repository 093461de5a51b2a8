/// Named tensors and text metadata in one file, readable by any safetensors reader.
/// Format: huggingface/safetensors, README "Format": eight bytes little-endian length of the header, the header as JSON
/// from names to {"dtype", "shape", "data_offsets"} and "__metadata__" to texts, then the data without gaps.
#pragma once

#include "engine/formats/dtype.h"
#include "engine/tensor/shape.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

struct StoredTensor
{
    std::string name;
    std::string dtype; ///< as in the file: "F32", "F16", "BF16", "I64", ...
    Shape shape;
    std::vector<std::byte> bytes; ///< row-major, little-endian

    /// Nothing for an element type that Mantissa does not compute with.
    [[nodiscard]] std::optional<DType> type() const;
};

/// "F32" for Float32, and so on.
std::string safetensorsName(DType dtype);

struct Safetensors
{
    std::vector<StoredTensor> tensors; ///< in the order of their data
    std::map<std::string, std::string> metadata;

    [[nodiscard]] const StoredTensor* find(const std::string& name) const;
};

/// Reads a whole file. Throws Error (Io) if it cannot be read, and (InvalidArgument), saying what and where, for one
/// that is cut off, damaged or made to harm: sizes are checked against the file before anything of that size is
/// allocated, and the data of the tensors must cover the rest of the file without gap or overlap.
Safetensors readSafetensors(const std::filesystem::path& file);

/// Writes beside the file, synchronises, and renames: afterwards there is the old file or the new one, whole, whatever
/// happens meanwhile. Throws Error (Io) and leaves the old file; (InvalidArgument) for two tensors of one name.
void writeSafetensors(const std::filesystem::path& file, const Safetensors& contents);

} // namespace mantissa
