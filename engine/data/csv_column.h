/// One column of a table: numbers, or texts that are categories.
#pragma once

#include "engine/data/csv_table.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// "-1.5e3", "+2", and also "inf" and "nan"; nothing if the whole text is no number.
std::optional<double> parseCsvNumber(std::string_view text);

/// Whether nearly all of so many cells are numbers: then one that is not is a mistake, not a category.
bool areNumbers(std::size_t numbers, std::size_t cells);

/// A column of a table from `firstRow` on, and what to call it in messages. `table` must outlive it.
struct CsvColumn
{
    const CsvTable& table;
    std::size_t index;
    std::size_t firstRow; ///< 1 if the first row is a header
    std::string name;
    std::string file;

    [[nodiscard]] std::size_t size() const { return table.rows() - firstRow; }

    [[nodiscard]] std::string_view cell(std::size_t sample) const { return table.cell(firstRow + sample, index); }

    /// Throws Error (InvalidArgument): `FILE, line 7, column "age": ` and what is wrong.
    [[noreturn]] void refuse(std::size_t sample, const std::string& what) const;

    /// Whether the column has numbers. Throws Error (InvalidArgument) for an empty cell, a number that is not finite,
    /// and a text in a column of numbers.
    [[nodiscard]] bool isNumeric() const;

    /// Of a numeric column.
    [[nodiscard]] std::vector<double> numbers() const;

    /// The distinct texts in the order of their bytes. Throws Error (InvalidArgument) if there are more than `most`;
    /// `advice` ends the message.
    [[nodiscard]] std::vector<std::string_view> categories(std::size_t most, std::string_view advice) const;
};

} // namespace mantissa
