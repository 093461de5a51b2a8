#include "app/cli/output.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mantissa::cli {

namespace {

/// Characters of a UTF-8 text.
std::size_t widthOf(const std::string& text)
{
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

} // namespace

void Table::addColumn(std::string title, Align align)
{
    m_titles.push_back(std::move(title));
    m_aligns.push_back(align);
}

void Table::addRow(std::vector<std::string> cells)
{
    cells.resize(m_titles.size());
    m_rows.push_back(std::move(cells));
}

std::string Table::text() const
{
    std::vector<std::size_t> widths;
    for (std::size_t column = 0; column < m_titles.size(); ++column) {
        std::size_t width = widthOf(m_titles[column]);
        for (const auto& row : m_rows) {
            width = std::max(width, widthOf(row[column]));
        }
        widths.push_back(width);
    }
    std::string out;
    const auto addLine = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t column = 0; column < cells.size(); ++column) {
            const std::string padding(widths[column] - widthOf(cells[column]), ' ');
            line += column == 0 ? "" : "  ";
            line += m_aligns[column] == Align::Left ? cells[column] + padding : padding + cells[column];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    };
    addLine(m_titles);
    for (const auto& row : m_rows) {
        addLine(row);
    }
    return out;
}

void print(const std::string& text)
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
        throw Error(ErrorCode::Io, "the output could not be written in full");
    }
}

void printJson(const Json& json, bool pretty)
{
    print(json.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace) + '\n');
}

std::string shortNumber(double value)
{
    return std::isnan(value) ? "nan" : fmt::format("{:.5g}", value);
}

std::string rateText(double stepsPerSecond)
{
    return std::isnan(stepsPerSecond) ? "-"
        : stepsPerSecond < 100        ? fmt::format("{:.3g}", stepsPerSecond)
                                      : fmt::format("{:.0f}", stepsPerSecond);
}

std::string percent(double share)
{
    return std::isnan(share) ? "-" : fmt::format("{:.1f} %", 100 * share);
}

} // namespace mantissa::cli
