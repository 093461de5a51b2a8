#include "engine/data/csv_column.h"

#include "engine/core/error.h"
#include "engine/core/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

namespace mantissa {

namespace {

std::string inQuotes(std::string_view text)
{
    return shortText(std::string(text));
}

bool hasDecimalComma(std::string_view text)
{
    std::string pointed(text);
    std::ranges::replace(pointed, ',', '.');
    return pointed != text && parseCsvNumber(pointed).has_value();
}

} // namespace

std::optional<double> parseCsvNumber(std::string_view text)
{
    if (text.starts_with('+') && !text.starts_with("+-")) {
        text.remove_prefix(1);
    }
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    if (code == std::errc::result_out_of_range) {
        return std::numeric_limits<double>::infinity();
    }
    return code == std::errc {} ? std::optional(value) : std::nullopt;
}

bool areNumbers(std::size_t numbers, std::size_t cells)
{
    return cells > 0 && 10 * numbers >= 9 * cells;
}

void CsvColumn::refuse(std::size_t sample, const std::string& what) const
{
    throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}, line {}, column {}: {}", file, table.line(firstRow + sample), inQuotes(name), what));
}

bool CsvColumn::isNumeric() const
{
    std::optional<std::size_t> firstText;
    std::optional<std::size_t> firstInfinite;
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        if (cell(i).empty()) {
            refuse(i, "the cell is empty; fill it or remove the row");
        }
        const std::optional<double> number = parseCsvNumber(cell(i));
        numbers += number ? 1U : 0U;
        if (!number && !firstText) {
            firstText = i;
        }
        if (number && !std::isfinite(*number) && !firstInfinite) {
            firstInfinite = i;
        }
    }
    if (!areNumbers(numbers, size())) {
        return false;
    }
    if (firstText) {
        const bool mayBeHeader = *firstText == 0 && firstRow == 0;
        refuse(*firstText,
            fmt::format("{} is no number, as the column's other cells are; {}", inQuotes(cell(*firstText)),
                hasDecimalComma(cell(*firstText)) ? "write a point for the decimal comma"
                    : mayBeHeader                 ? "if this row names the columns, set data.header to yes"
                                                  : "correct it or remove the row"));
    }
    if (firstInfinite) {
        refuse(*firstInfinite,
            fmt::format("{} is not a finite number that 64 bits can hold; correct it or remove the row",
                inQuotes(cell(*firstInfinite))));
    }
    return true;
}

std::vector<double> CsvColumn::numbers() const
{
    std::vector<double> values(size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = parseCsvNumber(cell(i)).value();
    }
    return values;
}

std::vector<std::string_view> CsvColumn::categories(std::size_t most, std::string_view advice) const
{
    std::set<std::string_view> distinct;
    for (std::size_t i = 0; i < size(); ++i) {
        distinct.insert(cell(i));
        if (distinct.size() > most) {
            refuse(i,
                fmt::format("{} is the column's text number {} that differs from all others; at most {} are taken as "
                            "categories. {}",
                    inQuotes(cell(i)), most + 1, most,
                    hasDecimalComma(cell(i)) ? "Write numbers with a point, not a comma" : advice));
        }
    }
    return {distinct.begin(), distinct.end()};
}

} // namespace mantissa
