/// A line plot as SVG: what a report needs, in the small part of SVG that every viewer knows (no styles, no clipping).
#pragma once

#include <array>
#include <string>
#include <vector>

namespace mantissa {

struct SvgLine
{
    std::string name {}; ///< in the legend; empty: not there
    std::string color = "#000000";
    std::vector<std::array<double, 2>> points {}; ///< by x; a y that cannot be drawn breaks the line
    double width = 1.5;
    double opacity = 1;
    std::string dash {}; ///< as stroke-dasharray
    bool isStairs = false; ///< holds its y up to the next x
};

struct SvgBand
{
    std::string name {};
    std::string color = "#000000";
    std::vector<std::array<double, 3>> points {}; ///< x, low, high
};

/// Small crosses on the plot's upper edge.
struct SvgMarks
{
    std::string name {};
    std::string color = "#000000";
    std::vector<double> at {}; ///< x
};

struct SvgPlot
{
    enum class Axis { Linear, Log10, Log2 };

    std::string title {};
    std::string xLabel {};
    std::string yLabel {};
    Axis yAxis = Axis::Linear; ///< on a logarithmic one only what is above zero is drawn
    double xFirst = 0;
    double xLast = 1;
    std::vector<SvgBand> bands {}; ///< drawn first
    std::vector<SvgLine> lines {};
    std::vector<SvgMarks> marks {};
    double width = 760; ///< pixels
    double height = 260;
};

/// An <svg> element without an XML header. Lines with many more points than pixels are thinned to the extremes of each
/// pixel column.
std::string svgOf(const SvgPlot& plot);

/// `text` with &, <, > and quotes as entities.
std::string markupEscaped(const std::string& text);

} // namespace mantissa
