#include "ui/plots/lane_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr std::size_t slice = 4096; // values between two looks at the clock

double unitRoundoff(DType dtype)
{
    switch (dtype) {
    case DType::Float16:
        return std::ldexp(1.0, -11);
    case DType::BFloat16:
        return std::ldexp(1.0, -8);
    default:
        return std::ldexp(1.0, -24);
    }
}

bool differs(double norm, double clipped)
{
    if (!std::isfinite(norm) || !std::isfinite(clipped)) {
        return std::isfinite(clipped);
    }
    return std::abs(clipped - norm) > 1e-6 * std::abs(norm);
}

/// Compares up to `slice` steps of `lane` with `baseline`; true if there were any.
bool compareSlice(LaneData& lane, const LaneData& baseline)
{
    LaneDifference& difference = lane.difference;
    const std::int64_t end
        = lane.loss.empty() || baseline.loss.empty() ? -1 : std::min(lane.loss.lastStep(), baseline.loss.lastStep());
    if (difference.laneGeneration != lane.loss.generation()
        || difference.baselineGeneration != baseline.loss.generation()) {
        difference = LaneDifference();
        difference.laneGeneration = lane.loss.generation();
        difference.baselineGeneration = baseline.loss.generation();
    }
    if (end < 0) {
        return false;
    }
    const std::int64_t last = std::min<std::int64_t>(
        end, std::max(difference.next, lane.loss.firstStep()) + static_cast<std::int64_t>(slice) - 1);
    if (difference.next > last) {
        return false;
    }
    lane.loss.forEach(difference.next, last, [&](std::int64_t step, double loss) {
        const auto other = baseline.loss.at(step);
        if (!other) {
            return;
        }
        const bool bothFinite = std::isfinite(loss) && std::isfinite(*other);
        if (std::isfinite(*other)) {
            difference.baselinePeak = std::max(difference.baselinePeak, std::abs(*other));
        }
        if (std::isfinite(loss) || std::isfinite(*other)) {
            const double gap = bothFinite ? std::abs(loss - *other) : std::numeric_limits<double>::quiet_NaN();
            difference.gap.append(step, gap);
            const double allowance = roundingAllowance(
                lane.curve.computeFormat, baseline.curve.computeFormat, step, difference.baselinePeak);
            if (!difference.parting && !(gap <= allowance)) {
                difference.parting = step;
            }
        }
    });
    difference.next = last + 1;
    return true;
}

} // namespace

double roundingAllowance(DType lane, DType baseline, std::int64_t step, double baselinePeak)
{
    const double roundoff = std::max(unitRoundoff(lane), unitRoundoff(baseline));
    return 4 * roundoff * std::sqrt(static_cast<double>(step + 1)) * baselinePeak;
}

void LaneData::truncate(std::int64_t firstDropped)
{
    for (SeriesPyramid* series : {&steps, &loss, &gradNorm, &gradNormClipped, &scale, &distance, &scaleFloor,
             &scaleCeiling, &heldOutLoss, &accuracy}) {
        series->truncate(firstDropped);
    }
    skips.truncate(firstDropped);
    if (endStep >= firstDropped) {
        endStep = -1;
        endReason.clear();
    }
}

void LaneData::append(
    std::int64_t step, double lossValue, double norm, double clippedNorm, double scaleValue, bool skipped)
{
    if (!steps.append(step, 0)) {
        return;
    }
    scale.append(step, scaleValue);
    loss.append(step, lossValue);
    gradNorm.append(step, norm);
    if (differs(norm, clippedNorm)) {
        gradNormClipped.append(step, clippedNorm);
    }
    if (skipped) {
        skips.append(step);
    }
}

void LaneData::appendLogged(const RunColumns& columns, std::size_t at)
{
    const std::int64_t step = columns.step[at];
    if (!steps.append(step, 0)) {
        return;
    }
    if (!std::isnan(columns.loss[at]) || columns.lossFinite[at] == 0) {
        loss.append(step, columns.loss[at]);
    }
    const double norm = columns.gradNorm[at];
    const double clipped = columns.gradNormClipped[at];
    if (!std::isnan(norm)) {
        gradNorm.append(step, norm);
    }
    if (!std::isnan(clipped) && differs(norm, clipped)) {
        gradNormClipped.append(step, clipped);
    }
    if (!std::isnan(columns.scale[at])) {
        scale.append(step, columns.scale[at]);
    }
    if (columns.skipped[at] != 0) {
        skips.append(step);
    }
}

void LaneData::appendValidation(const RunColumns::Validated& validation)
{
    heldOutLoss.append(validation.step, validation.loss);
    if (!std::isnan(validation.accuracy)) {
        accuracy.append(validation.step, validation.accuracy);
    }
}

LaneData* LaneCollection::find(quint64 key)
{
    return const_cast<LaneData*>(std::as_const(*this).find(key));
}

const LaneData* LaneCollection::find(quint64 key) const
{
    const auto found
        = std::find_if(m_lanes.begin(), m_lanes.end(), [key](const auto& lane) { return lane->curve.key == key; });
    return found == m_lanes.end() ? nullptr : found->get();
}

bool LaneCollection::put(const LaneCurve& curve)
{
    if (LaneData* lane = find(curve.key)) {
        lane->curve = curve;
        return false;
    }
    m_lanes.push_back(std::make_unique<LaneData>());
    m_lanes.back()->curve = curve;
    return true;
}

bool LaneCollection::remove(quint64 key)
{
    std::erase_if(m_marks, [key](const PlotMark& mark) { return mark.key == key; });
    return std::erase_if(m_lanes, [key](const auto& lane) { return lane->curve.key == key; }) > 0;
}

void LaneCollection::clear()
{
    m_lanes.clear();
    m_marks.clear();
}

bool LaneCollection::append(std::span<const StepRecord> records)
{
    bool took = false;
    LaneData* lane = nullptr;
    for (const StepRecord& record : records) {
        if (lane == nullptr || lane->curve.key != record.lane) {
            lane = find(record.lane);
        }
        if (lane == nullptr) {
            continue;
        }
        if (record.step <= lane->lastStep()) {
            lane->truncate(record.step);
        }
        lane->append(record.step, record.loss, record.gradNorm, record.gradNormClipped, record.scale, record.skipped);
        if (!std::isnan(record.baselineDistance)) {
            lane->distance.append(record.step, record.baselineDistance);
        }
        if (record.wasValidated()) {
            lane->appendValidation({record.step, record.validationLoss, record.validationAccuracy});
        }
        took = true;
    }
    return took;
}

bool LaneCollection::setColumns(quint64 key, RunColumns columns)
{
    LaneData* lane = find(key);
    if (lane == nullptr) {
        return false;
    }
    lane->truncate(0);
    lane->waiting = std::move(columns);
    lane->waitingNext = 0;
    return true;
}

void LaneCollection::truncate(quint64 key, std::int64_t firstDropped)
{
    if (LaneData* lane = find(key)) {
        lane->truncate(firstDropped);
        lane->waiting = RunColumns();
        lane->waitingNext = 0;
        std::erase_if(m_marks, [&](const PlotMark& mark) { return mark.key == key && mark.step >= firstDropped; });
    }
}

void LaneCollection::addMark(PlotMark mark)
{
    const auto place = std::upper_bound(m_marks.begin(), m_marks.end(), mark.step,
        [](std::int64_t step, const PlotMark& other) { return step < other.step; });
    m_marks.insert(place, std::move(mark));
}

void LaneCollection::changeTexts(const std::function<QString(const QString& text)>& change)
{
    for (PlotMark& mark : m_marks) {
        mark.text = change(mark.text);
        mark.label = change(mark.label);
    }
    for (const auto& lane : m_lanes) {
        lane->endReason = change(lane->endReason);
    }
}

bool LaneCollection::isWaiting() const
{
    return std::any_of(
        m_lanes.begin(), m_lanes.end(), [](const auto& lane) { return lane->waitingNext < lane->waiting.step.size(); });
}

bool LaneCollection::takeIn(double milliseconds)
{
    QElapsedTimer clock;
    clock.start();
    bool took = false;
    for (const auto& lane : m_lanes) {
        const RunColumns& from = lane->waiting;
        const std::size_t count = std::min({from.step.size(), from.loss.size(), from.gradNorm.size(),
            from.gradNormClipped.size(), from.scale.size(), from.skipped.size()});
        while (lane->waitingNext < count) {
            if (static_cast<double>(clock.nsecsElapsed()) * 1e-6 > milliseconds) {
                return true;
            }
            const std::size_t end = std::min(count, lane->waitingNext + slice);
            for (std::size_t i = lane->waitingNext; i < end; ++i) {
                if (from.lossFinite.empty()) {
                    lane->append(from.step[i], from.loss[i], from.gradNorm[i], from.gradNormClipped[i], from.scale[i],
                        from.skipped[i] != 0);
                } else {
                    lane->appendLogged(from, i);
                }
            }
            lane->waitingNext = end;
            took = true;
        }
        if (lane->waitingNext > 0) {
            std::ranges::for_each(
                from.validations, [&lane](const auto& validation) { lane->appendValidation(validation); });
            lane->waiting = RunColumns();
            lane->waitingNext = 0;
        }
    }
    return took;
}

bool LaneCollection::compare(quint64 baseline, double milliseconds)
{
    const LaneData* base = find(baseline);
    if (base == nullptr) {
        return false;
    }
    QElapsedTimer clock;
    clock.start();
    bool compared = false;
    for (const auto& lane : m_lanes) {
        if (lane.get() == base) {
            continue;
        }
        while (static_cast<double>(clock.nsecsElapsed()) * 1e-6 <= milliseconds && compareSlice(*lane, *base)) {
            compared = true;
        }
    }
    return compared;
}

bool LaneCollection::hasSteps() const
{
    return lastStep() >= 0;
}

std::int64_t LaneCollection::firstStep() const
{
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& lane : m_lanes) {
        if (!lane->steps.empty()) {
            first = std::min(first, lane->steps.firstStep());
        }
    }
    return hasSteps() ? first : 0;
}

std::int64_t LaneCollection::lastStep() const
{
    std::int64_t last = -1;
    for (const auto& lane : m_lanes) {
        last = std::max(last, lane->lastStep());
    }
    return last;
}

} // namespace mantissa
