/// Reads a table of texts: RFC 4180, with commas, semicolons or tabs between the cells, whichever the first lines show.
#pragma once

#include "engine/data/byte_source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// Cells without their quotation marks, and without blanks around those that had none.
class CsvTable
{
public:
    [[nodiscard]] std::size_t columns() const { return m_columns; } ///< 0 only without rows

    [[nodiscard]] std::size_t rows() const { return m_lines.size(); }

    [[nodiscard]] std::string_view cell(std::size_t row, std::size_t column) const;

    /// Where the row begins in the file, from 1.
    [[nodiscard]] std::uint32_t line(std::size_t row) const { return m_lines[row]; }

private:
    friend class CsvReader;

    std::size_t m_columns = 0;
    std::string m_text; ///< all cells end to end
    std::vector<std::uint32_t> m_ends; ///< of each cell in m_text
    std::vector<std::uint32_t> m_lines; ///< of each row
};

/// Reads to the end; empty lines are no rows. Memory is at most about 9 bytes for each byte of text.
/// Throws Error (InvalidArgument), naming the file and the line, for rows of different lengths, quotation marks that
/// are not doubled or not closed, bytes that are not UTF-8, more than 256 MiB, 10,000 columns or 50 million cells.
CsvTable readCsv(ByteSource& source);

} // namespace mantissa
