/// Everything the dashboard holds about its lanes, without widgets.
#pragma once

#include "ui/plots/dashboard.h"
#include "ui/plots/series_pyramid.h"
#include "ui/plots/step_runs.h"

#include <QElapsedTimer>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mantissa {

/// How far a lane lies from the baseline, built up step by step.
struct LaneDifference
{
    SeriesPyramid gap; ///< |loss - baseline's loss|; NaN where one of both is not finite
    std::optional<qint64> parting;
    std::int64_t next = 0; ///< the first step not compared yet
    double baselinePeak = 0; ///< the baseline's largest finite |loss| before `next`
    std::uint64_t laneGeneration = 0; ///< of the two losses that were compared
    std::uint64_t baselineGeneration = 0;
};

struct LaneData
{
    LaneCurve curve;
    bool isVisible = true;
    SeriesPyramid steps; ///< 0 at every step that has a record
    SeriesPyramid loss;
    SeriesPyramid gradNorm;
    SeriesPyramid gradNormClipped; ///< only steps where clipping changed the norm
    SeriesPyramid scale;
    SeriesPyramid distance; ///< of the weights to the reference lane's
    SeriesPyramid scaleFloor; ///< only steps at which the corridor is known, as the next
    SeriesPyramid scaleCeiling;
    SeriesPyramid heldOutLoss; ///< only steps after which the lane was judged, as the next
    SeriesPyramid accuracy; ///< on held-out data
    StepRuns skips;
    LaneDifference difference;
    std::int64_t endStep = -1;
    QString endReason;
    RunColumns waiting; ///< a stored run's numbers, taken in piecemeal
    std::size_t waitingNext = 0;

    [[nodiscard]] std::int64_t lastStep() const { return steps.empty() ? -1 : steps.lastStep(); }

    void truncate(std::int64_t firstDropped);
    void append(std::int64_t step, double lossValue, double norm, double clippedNorm, double scaleValue, bool skipped);
    /// A step of an imported run: what its log does not have is left out.
    void appendLogged(const RunColumns& columns, std::size_t at);
    void appendValidation(const RunColumns::Validated& validation);
};

struct PlotMark
{
    std::optional<quint64> key;
    std::int64_t step = 0;
    QString text; ///< shown when it is pointed at
    QString label {}; ///< always shown
};

/// |loss - baseline| that rounding alone explains at `step`; the rule is Dashboard::partingStep()'s.
double roundingAllowance(DType lane, DType baseline, std::int64_t step, double baselinePeak);

class LaneCollection
{
public:
    [[nodiscard]] LaneData* find(quint64 key);
    [[nodiscard]] const LaneData* find(quint64 key) const;

    [[nodiscard]] const std::vector<std::unique_ptr<LaneData>>& lanes() const { return m_lanes; }

    [[nodiscard]] const std::vector<PlotMark>& marks() const { return m_marks; }

    /// True if the lane is new.
    bool put(const LaneCurve& curve);
    bool remove(quint64 key);
    void clear();
    /// True if a record was taken.
    bool append(std::span<const StepRecord> records);
    bool setColumns(quint64 key, RunColumns columns);
    void truncate(quint64 key, std::int64_t firstDropped);
    void addMark(PlotMark mark);
    /// Changes every text that is kept: of marks and ends.
    void changeTexts(const std::function<QString(const QString& text)>& change);

    /// Whether columns wait to be taken in.
    [[nodiscard]] bool isWaiting() const;
    /// Takes in waiting columns for about `milliseconds`; true if it took any.
    bool takeIn(double milliseconds);
    /// Compares further steps with the baseline for about `milliseconds`; true if it compared any.
    bool compare(quint64 baseline, double milliseconds);

    [[nodiscard]] bool hasSteps() const;
    [[nodiscard]] std::int64_t firstStep() const; ///< 0 if there are none
    [[nodiscard]] std::int64_t lastStep() const; ///< -1 if there are none

private:
    std::vector<std::unique_ptr<LaneData>> m_lanes;
    std::vector<PlotMark> m_marks;
};

} // namespace mantissa
