#include "engine/protocol/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace mantissa {

namespace {

constexpr double left = 58;
constexpr double right = 12;
constexpr double top = 40;
constexpr double bottom = 34;
constexpr double fontSize = 11;
constexpr const char* textColor = "#333333";
constexpr const char* gridColor = "#e2e2e2";
constexpr const char* axisColor = "#888888";

struct Range
{
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void include(double value)
    {
        low = std::min(low, value);
        high = std::max(high, value);
    }

    [[nodiscard]] bool isEmpty() const { return low > high; }

    [[nodiscard]] double length() const { return high - low; }
};

/// A tick's place on the axis, and what stands there.
struct Tick
{
    double at = 0;
    std::string text;
};

/// From values to pixels.
class Frame
{
public:
    Frame(const SvgPlot& plot, Range y)
        : m_plot(plot)
        , m_y(y)
    {
    }

    [[nodiscard]] double x(double value) const
    {
        const double length = std::max(m_plot.xLast - m_plot.xFirst, 1e-12);
        return left + (value - m_plot.xFirst) / length * (m_plot.width - left - right);
    }

    /// Of a place on the axis, see place().
    [[nodiscard]] double y(double at) const
    {
        return m_plot.height - bottom - (at - m_y.low) / m_y.length() * (m_plot.height - top - bottom);
    }

private:
    const SvgPlot& m_plot;
    Range m_y;
};

/// Where a value is on the axis; nothing if it cannot be drawn there.
std::optional<double> place(SvgPlot::Axis axis, double value)
{
    if (!std::isfinite(value) || (axis != SvgPlot::Axis::Linear && value <= 0)) {
        return {};
    }
    return axis == SvgPlot::Axis::Linear ? value : axis == SvgPlot::Axis::Log10 ? std::log10(value) : std::log2(value);
}

/// Of everything that is drawn, with a margin.
Range rangeOf(const SvgPlot& plot)
{
    Range range;
    const auto include = [&](double value) {
        if (const auto at = place(plot.yAxis, value)) {
            range.include(*at);
        }
    };
    for (const SvgLine& line : plot.lines) {
        for (const auto& point : line.points) {
            include(point[1]);
        }
    }
    // A band that reaches below zero must not stretch a logarithmic axis.
    for (const SvgBand& band : plot.bands) {
        for (const auto& point : band.points) {
            include(point[2]);
            if (plot.yAxis == SvgPlot::Axis::Linear) {
                include(point[1]);
            }
        }
    }
    if (range.isEmpty()) {
        range = {0, 1};
    }
    const double least = plot.yAxis == SvgPlot::Axis::Log2 ? 2 : plot.yAxis == SvgPlot::Axis::Log10 ? 0.5 : 0;
    const double missing = std::max(least - range.length(), range.length() == 0 ? 1.0 : 0.0);
    const double margin = 0.05 * range.length() + missing / 2;
    return {range.low - margin, range.high + margin};
}

std::vector<Tick> linearTicks(const Range& range, int most)
{
    const double rough = range.length() / most;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough / power <= 1 ? 1 : rough / power <= 2 ? 2 : rough / power <= 5 ? 5 : 10);
    std::vector<Tick> ticks;
    for (double i = std::ceil(range.low / step); i * step <= range.high; ++i) {
        const double at = i * step + 0.0; // no minus zero
        ticks.push_back({at, fmt::format("{:.4g}", at)});
    }
    return ticks;
}

/// Decades, or where there are few 1, 2 and 5 of each.
std::vector<Tick> decadeTicks(const Range& range)
{
    std::vector<Tick> ticks;
    constexpr double few = 2.5;
    const double step = std::max(1.0, std::ceil(range.length() / 7));
    for (double decade = std::floor(range.low); decade <= range.high; decade += range.length() > few ? step : 1) {
        for (const double digit : {1.0, 2.0, 5.0}) {
            const double at = decade + std::log10(digit);
            if (at >= range.low && at <= range.high && (digit == 1 || range.length() <= few)) {
                ticks.push_back({at, fmt::format("{:.4g}", std::pow(10, decade) * digit)});
            }
        }
    }
    return ticks;
}

std::vector<Tick> powerOfTwoTicks(const Range& range)
{
    const double step = std::max(1.0, std::ceil(range.length() / 6));
    std::vector<Tick> ticks;
    for (double at = std::ceil(range.low / step) * step + 0.0; at <= range.high; at += step) { // no minus zero
        ticks.push_back({at, fmt::format("2^{:.0f}", at)});
    }
    return ticks;
}

std::string textAt(double x, double y, const std::string& text, const char* anchor, const char* more = "")
{
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-family=\"sans-serif\" font-size=\"{}\" fill=\"{}\" "
                       "text-anchor=\"{}\"{}>{}</text>\n",
        x, y, fontSize, textColor, anchor, more, markupEscaped(text));
}

std::string lineFrom(double x1, double y1, double x2, double y2, const std::string& color, double width)
{
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
                       "stroke-width=\"{}\"/>\n",
        x1, y1, x2, y2, color, width);
}

std::string crossAt(double x, double y, const std::string& color)
{
    constexpr double reach = 3;
    return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\" "
                       "stroke-width=\"1.2\" fill=\"none\"/>\n",
        x - reach, y - reach, x + reach, y + reach, x - reach, y + reach, x + reach, y - reach, color);
}

/// The extremes of each pixel column, where there are many points to one.
std::vector<std::array<double, 2>> thinned(const SvgLine& line, double width)
{
    const auto columns = static_cast<std::size_t>(std::max(width, 1.0));
    const std::size_t perColumn = line.points.size() / columns;
    constexpr std::size_t many = 4;
    if (perColumn < many) {
        return line.points;
    }
    std::vector<std::array<double, 2>> kept;
    for (std::size_t first = 0; first < line.points.size(); first += perColumn) {
        const auto begin = line.points.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end
            = line.points.begin() + static_cast<std::ptrdiff_t>(std::min(first + perColumn, line.points.size()));
        auto low = begin;
        auto high = begin;
        for (auto point = begin; point != end; ++point) {
            low = (*point)[1] < (*low)[1] ? point : low;
            high = (*point)[1] > (*high)[1] ? point : high;
        }
        kept.push_back(*std::min(low, high));
        if (low != high) {
            kept.push_back(*std::max(low, high));
        }
    }
    return kept;
}

std::string drawnLine(const SvgLine& line, const SvgPlot& plot, const Frame& frame)
{
    std::string path;
    std::optional<double> before;
    for (const auto& point : thinned(line, plot.width - left - right)) {
        const auto at = place(plot.yAxis, point[1]);
        if (at) {
            const double x = frame.x(point[0]);
            if (before && line.isStairs && *before != *at) {
                path += fmt::format("L{:.1f} {:.1f}", x, frame.y(*before));
            }
            path += fmt::format("{}{:.1f} {:.1f}", before ? "L" : "M", x, frame.y(*at));
        }
        before = at;
    }
    if (path.empty()) {
        return {};
    }
    return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-opacity=\"{}\" "
                       "stroke-linejoin=\"round\"{}/>\n",
        path, line.color, line.width, line.opacity,
        line.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", line.dash));
}

constexpr double bandOpacity = 0.18;

std::string drawnBand(const SvgBand& band, const SvgPlot& plot, const Frame& frame, const Range& range)
{
    std::string upper;
    std::string lower;
    for (const auto& [x, low, high] : band.points) {
        const auto highAt = place(plot.yAxis, high);
        if (!highAt) {
            continue;
        }
        // On a logarithmic axis a band that reaches zero ends at the plot's edge.
        const double lowAt = std::max(place(plot.yAxis, low).value_or(range.low), range.low);
        upper += fmt::format("{}{:.1f} {:.1f}", upper.empty() ? "M" : "L", frame.x(x), frame.y(*highAt));
        lower = fmt::format("L{:.1f} {:.1f}", frame.x(x), frame.y(lowAt)) + lower;
    }
    return upper.empty() ? ""
                         : fmt::format("<path d=\"{}{}Z\" fill=\"{}\" fill-opacity=\"{}\" stroke=\"none\"/>\n", upper,
                             lower, band.color, bandOpacity);
}

/// Entries from the right edge leftwards would need text widths; a guess per character is enough for short names.
std::string legend(const SvgPlot& plot)
{
    constexpr double y = 28;
    constexpr double sample = 22;
    constexpr double gap = 5;
    constexpr double character = 5.9;
    std::string out;
    double x = left;
    const auto add = [&](const std::string& name, const std::string& shape) {
        out += shape + textAt(x + sample + gap, y, name, "start");
        x += sample + gap + character * static_cast<double>(name.size()) + 3 * gap;
    };
    for (const SvgLine& line : plot.lines) {
        if (!line.name.empty()) {
            add(line.name,
                fmt::format("<path d=\"M{:.1f} {}L{:.1f} {}\" stroke=\"{}\" stroke-width=\"{}\" fill=\"none\"{}/>\n", x,
                    y - 4, x + sample, y - 4, line.color, std::max(line.width, 1.5),
                    line.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", line.dash)));
        }
    }
    for (const SvgBand& band : plot.bands) {
        if (!band.name.empty()) {
            add(band.name,
                fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{}\" height=\"9\" fill=\"{}\" fill-opacity=\"{}\"/>\n",
                    x, y - 8, sample, band.color, bandOpacity));
        }
    }
    for (const SvgMarks& marks : plot.marks) {
        if (!marks.at.empty()) {
            add(marks.name, crossAt(x + sample / 2, y - 4, marks.color));
        }
    }
    return out;
}

} // namespace

std::string svgOf(const SvgPlot& plot)
{
    const Range range = rangeOf(plot);
    const Frame frame(plot, range);
    const double floor = plot.height - bottom;
    const double end = plot.width - right;
    std::string out = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                                  "viewBox=\"0 0 {0} {1}\">\n<title>{2}</title>\n",
        plot.width, plot.height, markupEscaped(plot.title));
    out += textAt(left, 13, plot.title, "start", " font-weight=\"bold\"");
    out += legend(plot);

    const std::vector<Tick> yTicks = plot.yAxis == SvgPlot::Axis::Linear ? linearTicks(range, 5)
        : plot.yAxis == SvgPlot::Axis::Log10                             ? decadeTicks(range)
                                                                         : powerOfTwoTicks(range);
    for (const Tick& tick : yTicks) {
        out += lineFrom(left, frame.y(tick.at), end, frame.y(tick.at), gridColor, 1);
        out += textAt(left - 6, frame.y(tick.at) + 4, tick.text, "end");
    }
    const int xTicks = plot.width > 500 ? 10 : 5;
    for (const Tick& tick : linearTicks({plot.xFirst, plot.xLast}, xTicks)) {
        out += lineFrom(frame.x(tick.at), floor, frame.x(tick.at), floor + 4, axisColor, 1);
        out += textAt(frame.x(tick.at), floor + 16, tick.text, "middle");
    }
    out += textAt((left + end) / 2, plot.height - 4, plot.xLabel, "middle");
    const double middle = (top + floor) / 2;
    out += textAt(
        12, middle, plot.yLabel, "middle", fmt::format(" transform=\"rotate(-90 12 {:.1f})\"", middle).c_str());

    for (const SvgBand& band : plot.bands) {
        out += drawnBand(band, plot, frame, range);
    }
    for (const SvgLine& line : plot.lines) {
        out += drawnLine(line, plot, frame);
    }
    for (const SvgMarks& marks : plot.marks) {
        for (const double x : marks.at) {
            out += crossAt(frame.x(x), top + 2, marks.color);
        }
    }
    out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{}\"/>\n</svg>\n",
        left, top, end - left, floor - top, axisColor);
    return out;
}

std::string markupEscaped(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

} // namespace mantissa
