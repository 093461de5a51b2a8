/// The report's three plots.
#include "engine/core/phrase.h"
#include "engine/protocol/protocol_report.h"
#include "engine/protocol/svg_plot.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr const char* fp32Color = "#0072B2";
constexpr const char* ampColor = "#D55E00";
constexpr double wide = 760;
constexpr double half = 374;
constexpr double faint = 0.35;

using Runs = std::vector<ProtocolRun>;

SvgPlot emptyPlot(
    const ProtocolResult& result, const std::string& title, const std::string& yLabel, double width, double height)
{
    SvgPlot plot;
    plot.title = title;
    plot.xLabel = phrase("step");
    plot.yLabel = yLabel;
    plot.xLast = static_cast<double>(result.runs.steps);
    plot.width = width;
    plot.height = height;
    return plot;
}

/// A faint line for every seed.
template <typename Number>
void addSeeds(
    SvgPlot& plot, const Runs& runs, const char* color, const std::string& name, double opacity, Number number)
{
    for (const ProtocolRun& run : runs) {
        SvgLine line {.name = &run == &runs.front() ? name : "", .color = color, .width = 1, .opacity = opacity};
        for (const StepRecord& record : run.records) {
            line.points.push_back({static_cast<double>(record.step), number(record)});
        }
        plot.lines.push_back(std::move(line));
    }
}

SvgLine blockLine(const CurveComparison& curves, double CurveBlock::*value, const char* name, const char* color)
{
    SvgLine line {.name = name, .color = color, .width = 2.2};
    for (const CurveBlock& block : curves.blocks) {
        line.points.push_back({static_cast<double>(block.firstStep + block.lastStep) / 2, block.*value});
    }
    return line;
}

/// A loss that falls by far is read on a logarithmic axis.
bool fallsFar(const CurveComparison& curves)
{
    constexpr double far = 15;
    double low = curves.fp32Start;
    for (const CurveBlock& block : curves.blocks) {
        low = std::isfinite(block.fp32) ? std::min(low, block.fp32) : low;
    }
    return low > 0 && curves.fp32Start > far * low;
}

ProtocolPicture lossPicture(const ProtocolResult& result)
{
    SvgPlot plot = emptyPlot(result, phrase("Loss"), phrase("loss"), wide, 210);
    const CurveComparison& curves = result.curves;
    plot.yAxis = fallsFar(curves) ? SvgPlot::Axis::Log10 : SvgPlot::Axis::Linear;
    SvgBand band {
        .name = curves.usesSeeds ? phrase("FP32 \u00b1 2 x noise (seeds)") : phrase("FP32 \u00b1 3 x noise (jitter)"),
        .color = fp32Color};
    for (const CurveBlock& block : curves.blocks) {
        if (std::isfinite(block.fp32)) {
            band.points.push_back({static_cast<double>(block.firstStep + block.lastStep) / 2, block.fp32 - block.band,
                block.fp32 + block.band});
        }
    }
    plot.bands.push_back(std::move(band));
    const auto loss = [](const StepRecord& record) { return record.loss; };
    addSeeds(plot, result.runs.fp32, fp32Color, "", faint, loss);
    addSeeds(plot, result.runs.amp, ampColor, "", faint, loss);
    plot.lines.push_back(blockLine(curves, &CurveBlock::fp32, "FP32", fp32Color));
    plot.lines.push_back(blockLine(curves, &CurveBlock::amp, "AMP", ampColor));
    plot.lines.back().dash = "7 4"; // so that both are seen where they lie on each other
    return {svgOf(plot), plot.width, plot.height};
}

ProtocolPicture gradNormPicture(const ProtocolResult& result)
{
    SvgPlot plot = emptyPlot(result, phrase("Gradient norm, before clipping"), phrase("norm"), half, 155);
    plot.yAxis = SvgPlot::Axis::Log10;
    const auto norm = [](const StepRecord& record) { return record.gradNorm; };
    constexpr double clear = 0.8;
    addSeeds(plot, result.runs.fp32, fp32Color, "FP32", clear, norm);
    addSeeds(plot, result.runs.amp, ampColor, "AMP", clear, norm);
    return {svgOf(plot), plot.width, plot.height};
}

ProtocolPicture scalePicture(const ProtocolResult& result)
{
    SvgPlot plot = emptyPlot(result, phrase("Scale"), phrase("scale"), half, 155);
    plot.yAxis = SvgPlot::Axis::Log2;
    constexpr double clear = 0.8;
    addSeeds(plot, result.runs.amp, ampColor, "AMP", clear, [](const StepRecord& record) { return record.scale; });
    for (SvgLine& line : plot.lines) {
        line.isStairs = true;
        line.width = 1.5;
    }
    SvgMarks skips {.name = phrase("skipped step"), .color = "#333333"};
    for (const ProtocolRun& run : result.runs.amp) {
        for (const StepRecord& record : run.records) {
            if (record.skipped) {
                skips.at.push_back(static_cast<double>(record.step));
            }
        }
    }
    // Where every step is skipped, one mark for each pixel is enough.
    std::ranges::sort(skips.at);
    const double pixel = plot.xLast / plot.width;
    std::vector<double> kept;
    for (const double x : skips.at) {
        if (kept.empty() || x - kept.back() >= 2 * pixel) {
            kept.push_back(x);
        }
    }
    skips.at = std::move(kept);
    plot.marks.push_back(std::move(skips));
    return {svgOf(plot), plot.width, plot.height};
}

} // namespace

ProtocolPictures protocolPictures(const ProtocolResult& result)
{
    return {lossPicture(result), gradNormPicture(result), scalePicture(result)};
}

} // namespace mantissa
