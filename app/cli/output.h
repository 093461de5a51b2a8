/// Printing: aligned tables, numbers for people, JSON.
#pragma once

#include "engine/core/readable_text.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace mantissa::cli {

using Json = nlohmann::ordered_json;

/// A table whose columns are as wide as their widest cell.
class Table
{
public:
    enum class Align { Left, Right };

    void addColumn(std::string title, Align align = Align::Right);
    void addRow(std::vector<std::string> cells); ///< one per column
    [[nodiscard]] std::string text() const;

private:
    std::vector<std::string> m_titles;
    std::vector<Align> m_aligns;
    std::vector<std::vector<std::string>> m_rows;
};

/// Writes to stdout. Throws Error (Io) if that fails.
void print(const std::string& text);
/// Pretty on a `wide` page, else in one line.
void printJson(const Json& json, bool pretty = true);

/// About five digits: "0.012346", "1.2e-07", "inf", "nan".
std::string shortNumber(double value);
/// "87.5 %"; "-" for NaN.
std::string percent(double share);
/// Steps per second: three digits where there are few; "-" for NaN.
std::string rateText(double stepsPerSecond);

} // namespace mantissa::cli
