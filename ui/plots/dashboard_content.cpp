// What Dashboard shows: curves, ranges, marks, table and summary, all derived from its lanes.
#include "ui/language/language.h"
#include "ui/plots/axis_tickers.h"
#include "ui/plots/dashboard_private.h"
#include "ui/plots/smoothing.h"
#include "ui/style/number_format.h"

#include <QAccessible>

#include <cmath>

namespace mantissa {

namespace {

constexpr double takeInMs = 4;
constexpr double compareMs = 2;
constexpr qint64 freshLayoutMs = 40; // a plot that opens has these frames without the table
constexpr double longestPauseMs = 1000;
constexpr qint64 tableEveryMs = 100; // numbers that change faster cannot be read
constexpr qint64 sparingTableEveryMs = 1000; // where drawing is limited
constexpr double storedShare = 0.62; // of a stored run's colour: live lanes come first

struct StepSpan
{
    std::int64_t first;
    std::int64_t last;
};

StepSpan stepsIn(const AxisRange& range)
{
    return {static_cast<std::int64_t>(std::max(0.0, std::ceil(range.lower))),
        static_cast<std::int64_t>(std::max(0.0, std::floor(range.upper)))};
}

/// Of a series that has values at some steps only.
std::optional<double> newestUpTo(const SeriesPyramid& series, std::int64_t step)
{
    if (series.empty()) {
        return std::nullopt;
    }
    const std::int64_t newest = series.stepBefore(step + 1, 1);
    return newest <= step ? series.at(newest) : std::nullopt;
}

AxisScale scaleOf(Metric metric, const PanelView& panel)
{
    if (!panel.isLog) {
        return AxisScale::Linear;
    }
    return metric == Metric::Scale ? AxisScale::Log2 : AxisScale::Log10;
}

} // namespace

const LaneData* Dashboard::Private::baselineLane() const
{
    if (baselineKey) {
        if (const LaneData* lane = data.find(*baselineKey)) {
            return lane;
        }
    }
    return data.lanes().empty() ? nullptr : data.lanes().front().get();
}

bool Dashboard::Private::showsDistance() const
{
    const LaneData* baseline = baselineLane();
    if (baseline == nullptr) {
        return false;
    }
    return baseline->curve.key == distanceKey.value_or(data.lanes().front()->curve.key);
}

QColor Dashboard::Private::colorOf(const LaneData& lane) const
{
    const QColor& background = canvas->colors().background;
    const QColor color = lane.curve.live ? lane.curve.color : blend(lane.curve.color, background, storedShare);
    return readableOn(color, background, lane.curve.live ? 3.0 : 2.0);
}

Qt::PenStyle Dashboard::Private::styleOf(const LaneData& lane) const
{
    return !lane.curve.live && lane.curve.style == Qt::SolidLine ? Qt::DashLine : lane.curve.style;
}

std::vector<Dashboard::Private::PanelSeries> Dashboard::Private::seriesOf(Metric metric) const
{
    std::vector<PanelSeries> all;
    const LaneData* baseline = baselineLane();
    for (const auto& lane : data.lanes()) {
        if (!lane->isVisible) {
            continue;
        }
        switch (metric) {
        case Metric::Loss:
            all.push_back({lane.get(), &lane->loss});
            all.push_back({lane.get(), &lane->heldOutLoss, true});
            break;
        case Metric::GradientNorm:
            all.push_back({lane.get(), &lane->gradNorm});
            all.push_back({lane.get(), &lane->gradNormClipped, true});
            break;
        case Metric::Scale:
            all.push_back({lane.get(), &lane->scale});
            if (highlighted == lane->curve.key) {
                all.push_back({lane.get(), &lane->scaleFloor, true});
                all.push_back({lane.get(), &lane->scaleCeiling, true});
            }
            break;
        case Metric::Difference:
            if (lane.get() != baseline) {
                all.push_back({lane.get(), &lane->difference.gap});
                if (showsDistance()) {
                    all.push_back({lane.get(), &lane->distance, true});
                }
            }
            break;
        }
    }
    return all;
}

std::vector<Curve> Dashboard::Private::curvesOf(Metric metric) const
{
    std::vector<Curve> curves;
    for (const PanelSeries& shown : seriesOf(metric)) {
        const LaneData& lane = *shown.lane;
        Curve curve;
        curve.series = shown.series;
        curve.color = colorOf(lane);
        curve.style = styleOf(lane);
        curve.stepped = metric == Metric::Scale;
        curve.highlighted = highlighted == lane.curve.key;
        curve.dimmed = highlighted && !curve.highlighted;
        if (shown.isSecond) {
            curve.style = Qt::DotLine;
            curve.hasBand = false;
            curve.bridgesGaps = shown.series != &lane.gradNormClipped;
        } else if (metric != Metric::Scale) {
            curve.smoothing = canvas->view().smoothing;
        }
        if (metric == Metric::Scale) {
            curve.skips = &lane.skips;
        } else if (!shown.isSecond && metric != Metric::Difference) {
            curve.endStep = lane.endStep;
        }
        curves.push_back(curve);
    }
    return curves;
}

/// Of all series but for what would squash the rest: a lane that diverges, and single outliers.
double Dashboard::Private::usualMaximum(Metric metric, std::int64_t first, std::int64_t last, double minimum) const
{
    struct Height
    {
        SeriesStats stats;
        std::vector<double> maxima {}; ///< of columns
        double usual = 0;
    };

    constexpr std::int64_t enough = 128;
    int width = 0;
    while (((last - first) >> width) > enough) {
        ++width;
    }
    std::vector<SeriesColumn> columns;
    std::vector<Height> heights;
    std::vector<double> usual;
    for (const PanelSeries& shown : seriesOf(metric)) {
        Height height {shown.series->stats(first, last)};
        if (height.stats.finite == 0) {
            continue;
        }
        shown.series->columns(first, last, width, columns);
        for (const SeriesColumn& column : columns) {
            if (column.stats.finite > 0) {
                height.maxima.push_back(column.stats.maximum);
            }
        }
        height.usual = maximumWithoutOutliers(height.stats, height.maxima);
        usual.push_back(height.usual);
        heights.push_back(std::move(height));
    }
    const double limit = heightOfDivergence(minimum, usual);
    SeriesStats staying;
    std::vector<double> maxima;
    for (const Height& height : heights) {
        if (height.usual <= limit) {
            staying.merge(height.stats);
            maxima.insert(maxima.end(), height.maxima.begin(), height.maxima.end());
        }
    }
    return maximumWithoutOutliers(staying, maxima);
}

AxisRange Dashboard::Private::fittedValues(Metric metric, const ViewState& view) const
{
    const PanelView& panel = view[metric];
    const auto [first, last] = stepsIn(view.steps);
    SeriesStats all;
    for (const PanelSeries& shown : seriesOf(metric)) {
        all.merge(shown.series->stats(first, last));
    }
    const double minimum = panel.isLog ? all.smallestPositive : all.minimum;
    if (all.finite == 0 || !std::isfinite(minimum)) {
        return panel.range;
    }
    const bool cutsOutliers = metric == Metric::Loss && !panel.isLog && view.ignoresOutliers;
    const double maximum = cutsOutliers ? usualMaximum(metric, first, last, minimum) : all.maximum;
    return valueRange(minimum, std::max(minimum, maximum), scaleOf(metric, panel), panel.range);
}

ViewState Dashboard::Private::fitted(ViewState view) const
{
    if (view.followsSteps && (data.hasSteps() || expectedSteps > 0)) {
        bool growing = false;
        for (const auto& lane : data.lanes()) {
            growing = growing || (lane->curve.live && lane->endStep < 0);
        }
        view.steps = stepRange(data.firstStep(), std::max<std::int64_t>(0, data.lastStep()), expectedSteps, growing);
    }
    for (const Metric metric : allMetrics) {
        if (view[metric].follows && (metric != Metric::Difference || view.showsDifference)) {
            view[metric].range = fittedValues(metric, view);
        }
    }
    return view;
}

QString Dashboard::Private::noteOf(Metric metric) const
{
    QStringList notes;
    const PanelView& panel = canvas->view()[metric];
    const auto [first, last] = stepsIn(canvas->view().steps);
    bool belowZero = false;
    bool aboveTop = false;
    bool hasClipped = false;
    bool hasSkips = false;
    bool hasHeldOut = false;
    bool hasCorridor = false;
    for (const PanelSeries& shown : seriesOf(metric)) {
        const SeriesStats stats = shown.series->stats(first, last);
        belowZero = belowZero || (stats.finite > 0 && stats.minimum <= 0);
        aboveTop = aboveTop || (stats.finite > 0 && stats.maximum > panel.range.upper);
        hasClipped = hasClipped || (shown.series == &shown.lane->gradNormClipped && !stats.empty());
        hasHeldOut = hasHeldOut || (shown.series == &shown.lane->heldOutLoss && !stats.empty());
        hasSkips = hasSkips || shown.lane->skips.count() > 0;
        const bool isLimit = shown.series == &shown.lane->scaleFloor || shown.series == &shown.lane->scaleCeiling;
        hasCorridor = hasCorridor || (isLimit && !stats.empty());
    }
    if (hasHeldOut) {
        notes.append(tr("solid: training, dotted: held-out data"));
    }
    if (metric == Metric::GradientNorm && hasClipped) {
        notes.append(tr("solid: before clipping, dotted: after"));
    }
    if (metric == Metric::Scale && hasSkips) {
        notes.append(tr("\u00d7 skipped step"));
    }
    if (hasCorridor) {
        notes.append(tr("dotted: below, 1 % of the gradient flushes; above, it overflows"));
    }
    if (metric == Metric::Difference) {
        const LaneData* baseline = baselineLane();
        if (baseline != nullptr) {
            notes.append(showsDistance()
                    ? tr("to %1; solid: loss gap, dotted: weight distance").arg(baseline->curve.name)
                    : tr("to %1: loss gap").arg(baseline->curve.name));
        }
    }
    if (panel.isLog && belowZero) {
        notes.append(tr("0 and below: on the lower edge"));
    }
    if (panel.follows && aboveTop) {
        notes.append(tr("outliers lie above"));
    }
    return notes.join(QStringLiteral("; "));
}

void Dashboard::Private::updateMarks()
{
    const PlotColors& colors = canvas->colors();
    std::vector<MarkLine> marks;
    for (const PlotMark& mark : data.marks()) {
        const LaneData* lane = mark.key ? data.find(*mark.key) : nullptr;
        if (mark.key && (lane == nullptr || !lane->isVisible)) {
            continue;
        }
        const QString text = lane != nullptr ? tr("%1: %2").arg(lane->curve.name, mark.text) : mark.text;
        marks.push_back({mark.step, lane != nullptr ? colorOf(*lane) : colors.mark, text, mark.label});
    }
    std::vector<PartingFlag> flags;
    const LaneData* baseline = baselineLane();
    for (const auto& lane : data.lanes()) {
        if (lane->isVisible && lane->difference.parting && lane.get() != baseline) {
            flags.push_back({*lane->difference.parting, colorOf(*lane),
                tr("%1 parts from %2 by more than rounding at step %3")
                    .arg(lane->curve.name, baseline->curve.name, formatCount(*lane->difference.parting))});
        }
    }
    canvas->decor()->setMarks(std::move(marks));
    canvas->decor()->setFlags(std::move(flags));
}

void Dashboard::Private::updateContent()
{
    canvas->setDataRange({static_cast<double>(data.firstStep()),
        static_cast<double>(std::max<qint64>({1, data.lastStep(), expectedSteps}))});
    canvas->setView(fitted(canvas->view()));
    for (const Metric metric : allMetrics) {
        if (canvas->isShown(metric)) {
            canvas->setCurves(metric, curvesOf(metric));
            canvas->setNote(metric, noteOf(metric));
        } else {
            canvas->setCurves(metric, {});
        }
    }
    updateMarks();
    const bool isEmpty = !data.hasSteps();
    emptyLabel->setVisible(isEmpty && !emptyLabel->text().isEmpty());
    if (isEmpty) {
        emptyLabel->setGeometry(canvas->plotArea(Metric::Loss).adjusted(8, 8, -8, -8));
    }
}

bool Dashboard::Private::isFrameDue() const
{
    if (!m_sinceFrame.isValid() || m_drawingShare >= 1 || data.isWaiting()) {
        return true;
    }
    const double pauseMs = std::min(longestPauseMs, frame.lastMs / m_drawingShare);
    return static_cast<double>(m_sinceFrame.elapsed()) >= pauseMs;
}

bool Dashboard::Private::isLayoutFresh() const
{
    return m_sinceLayout.isValid() && m_sinceLayout.elapsed() < freshLayoutMs;
}

void Dashboard::Private::retranslate()
{
    data.changeTexts([](const QString& text) { return inPresentLanguage(text); });
    m_isTableStale = true;
    touch();
    refresh();
}

void Dashboard::Private::refresh()
{
    if (!q->isVisible() || !isFrameDue()) {
        return;
    }
    QElapsedTimer clock;
    clock.start();
    m_isDirty = data.takeIn(takeInMs) || m_isDirty;
    if (canvas->view().showsDifference && baselineLane() != nullptr) {
        m_isDirty = data.compare(baselineLane()->curve.key, compareMs) || m_isDirty;
    }
    if (m_isDirty) {
        m_isDirty = false;
        m_isTableStale = true;
        m_sinceFrame.start();
        updateContent();
        updateCursor();
        canvas->requestReplot();
    }
    const qint64 pauseMs = m_drawingShare < 1 ? sparingTableEveryMs : tableEveryMs;
    if (m_isTableStale && !isLayoutFresh() && (!m_tableClock.isValid() || m_tableClock.elapsed() >= pauseMs)) {
        updateTable();
    }
    m_refreshMs = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
}

LaneRow Dashboard::Private::rowOf(const LaneData& lane) const
{
    LaneRow row;
    row.key = lane.curve.key;
    row.name = lane.curve.name;
    row.color = colorOf(lane);
    row.style = styleOf(lane);
    row.isVisible = lane.isVisible;
    row.isBaseline = canvas->view().showsDifference && &lane == baselineLane();
    row.isNearest = m_nearest == lane.curve.key;
    const auto distance = m_pointerDistances.find(lane.curve.key);
    if (distance != m_pointerDistances.end()) {
        row.pointerDistance = distance->second;
    }
    row.ending = lane.endReason;
    if (lane.curve.knowsSkips) {
        row.skipped = lane.skips.count();
    }
    const auto sample = lane.steps.nearest(m_cursorStep.value_or(SeriesPyramid::maximumStep));
    if (!sample) {
        return row;
    }
    const std::int64_t step = sample->step;
    row.step = step;
    row.scale = lane.scale.at(step);
    row.loss = lane.loss.at(step);
    row.gradNorm = lane.gradNorm.at(step);
    const auto clipped = lane.gradNormClipped.at(step);
    row.gradNormClipped = clipped ? clipped : row.gradNorm;
    row.heldOutLoss = newestUpTo(lane.heldOutLoss, step);
    row.accuracy = newestUpTo(lane.accuracy, step);
    if (canvas->view().smoothing > 0) {
        row.smoothedLoss = smoothedAt(lane.loss, step, canvas->view().smoothing);
    }
    if (canvas->view().showsDifference && !row.isBaseline) {
        row.gap = lane.difference.gap.at(step);
        row.distance = showsDistance() ? lane.distance.at(step) : std::nullopt;
    }
    return row;
}

void Dashboard::Private::updateTable()
{
    m_isTableStale = false;
    m_tableClock.start();
    std::vector<LaneRow> rows;
    bool hasClipped = false;
    bool hasHeldOut = false;
    bool hasAccuracy = false;
    for (const auto& lane : data.lanes()) {
        rows.push_back(rowOf(*lane));
        hasClipped = hasClipped || !lane->gradNormClipped.empty();
        hasHeldOut = hasHeldOut || !lane->heldOutLoss.empty();
        hasAccuracy = hasAccuracy || !lane->accuracy.empty();
    }
    table->setColumnShown(LaneTableModel::HeldOutLoss, hasHeldOut);
    table->setColumnShown(LaneTableModel::Accuracy, hasAccuracy);
    table->setColumnShown(LaneTableModel::SmoothedLoss, canvas->view().smoothing > 0);
    table->setColumnShown(LaneTableModel::Clipped, hasClipped);
    table->setColumnShown(LaneTableModel::Gap, canvas->view().showsDifference);
    table->setColumnShown(LaneTableModel::Distance, canvas->view().showsDifference && showsDistance());
    table->setRows(std::move(rows));
    if (QAccessible::isActive()) {
        canvas->setAccessibleDescription(summary());
    }
}

void Dashboard::Private::addDots(const LaneData& lane, std::vector<CursorDot>& dots, double& pointerDistance) const
{
    const std::int64_t reach = std::int64_t {1} << canvas->log2ColumnWidth();
    for (const Metric metric : canvas->shownMetrics()) {
        for (const PanelSeries& shown : seriesOf(metric)) {
            if (shown.lane != &lane) {
                continue;
            }
            const auto sample = shown.series->nearest(*m_cursorStep);
            if (!sample || std::abs(sample->step - *m_cursorStep) > reach || !std::isfinite(sample->value)) {
                continue;
            }
            const bool isSmooth = canvas->view().smoothing > 0 && metric != Metric::Scale && !shown.isSecond;
            const double value
                = isSmooth ? smoothedAt(*shown.series, sample->step, canvas->view().smoothing) : sample->value;
            dots.push_back({static_cast<int>(metric), value, colorOf(lane), false});
            if (m_pointer && canvas->metricAt(*m_pointer) == metric) {
                pointerDistance
                    = std::min(pointerDistance, std::abs(canvas->valueToPixel(metric, value) - m_pointer->y()));
            }
        }
    }
}

void Dashboard::Private::updateCursor()
{
    std::vector<CursorDot> dots;
    m_nearest.reset();
    m_pointerDistances.clear();
    if (m_cursorStep) {
        double best = std::numeric_limits<double>::infinity();
        std::size_t bestFrom = 0;
        std::size_t bestTo = 0;
        for (const auto& lane : data.lanes()) {
            if (!lane->isVisible) {
                continue;
            }
            const std::size_t from = dots.size();
            double distance = std::numeric_limits<double>::infinity();
            addDots(*lane, dots, distance);
            m_pointerDistances[lane->curve.key] = distance;
            if (distance < best) {
                best = distance;
                m_nearest = lane->curve.key;
                bestFrom = from;
                bestTo = dots.size();
            }
        }
        for (std::size_t i = bestFrom; i < bestTo; ++i) {
            dots[i].isNearest = true;
        }
    }
    canvas->cursorOverlay()->setCursor(m_cursorStep, std::move(dots));
}

void Dashboard::Private::placeCursor(std::optional<std::int64_t> step)
{
    if (step && data.hasSteps()) {
        m_cursorStep = std::clamp(*step, data.firstStep(), data.lastStep());
    } else {
        m_cursorStep.reset();
    }
    updateCursor();
    canvas->redrawCursor();
    updateTable();
    if (m_cursorStep) {
        emit q->cursorMoved(*m_cursorStep);
    }
}

QString Dashboard::Private::summary() const
{
    if (!data.hasSteps()) {
        return tr("No curves yet. %1").arg(emptyLabel->text());
    }
    QStringList sentences;
    sentences.append(tr(
        "Loss, gradient norm and scale of %n lane(s), steps %1 to %2.", nullptr, static_cast<int>(data.lanes().size()))
                         .arg(formatCount(data.firstStep()), formatCount(data.lastStep())));
    for (const auto& lane : data.lanes()) {
        if (lane->steps.empty()) {
            continue;
        }
        const std::int64_t last = lane->lastStep();
        const SeriesStats loss = lane->loss.stats(0, last);
        const auto value = [last](const SeriesPyramid& series, QString (*format)(double)) {
            const auto known = series.at(last);
            return known ? format(*known) : tr("not known");
        };
        const auto plain = [](double number) { return formatValue(number); };
        QString text
            = tr("%1: loss %2, gradient norm %3, scale %4 at step %5.")
                  .arg(lane->curve.name, value(lane->loss, plain), value(lane->gradNorm, plain),
                      value(lane->scale, [](double number) { return formatScale(number); }), formatCount(last));
        if (loss.finite > 0) {
            text += QLatin1Char(' ') + tr("Lowest loss %1.").arg(formatValue(loss.minimum));
        }
        if (loss.notFinite > 0) {
            text += QLatin1Char(' ')
                + tr("Loss not finite in %n step(s), first at step %1.", nullptr, static_cast<int>(loss.notFinite))
                      .arg(formatCount(lane->loss.nonFiniteRuns().front().first));
        }
        if (!lane->heldOutLoss.empty()) {
            text += QLatin1Char(' ')
                + tr("Held-out loss %1 at step %2.")
                      .arg(formatValue(*lane->heldOutLoss.at(lane->heldOutLoss.lastStep())),
                          formatCount(lane->heldOutLoss.lastStep()));
        }
        if (lane->skips.count() > 0) {
            text += QLatin1Char(' ') + tr("%n step(s) skipped.", nullptr, static_cast<int>(lane->skips.count()));
        }
        if (!lane->endReason.isEmpty()) {
            text += QLatin1Char(' ') + lane->endReason;
        }
        if (!lane->isVisible) {
            text += QLatin1Char(' ') + tr("Hidden.");
        }
        sentences.append(text);
    }
    return sentences.join(QLatin1Char('\n'));
}

} // namespace mantissa
