/// What the dashboard shows of its data, and the undo of changes to it.
#pragma once

#include "ui/plots/autoscale.h"

#include <QElapsedTimer>
#include <QUndoCommand>

#include <array>
#include <functional>

namespace mantissa {

/// The stacked plots, top to bottom.
enum class Metric { Loss, GradientNorm, Scale, Difference };
constexpr int metricCount = 4;

constexpr std::array<Metric, metricCount> allMetrics {
    Metric::Loss, Metric::GradientNorm, Metric::Scale, Metric::Difference};

struct PanelView
{
    AxisRange range;
    bool follows = true; ///< the range is fitted to the data until a person takes over
    bool isLog = false;
    bool operator==(const PanelView&) const = default;
};

struct ViewState
{
    AxisRange steps {0, 100};
    bool followsSteps = true;
    std::array<PanelView, metricCount> panels {PanelView {{0, 1}, true, false}, PanelView {{1e-3, 1}, true, true},
        PanelView {{0.5, 2}, true, true}, PanelView {{1e-6, 1}, true, true}};
    double smoothing = 0;
    bool showsDifference = false;
    bool ignoresOutliers = true;

    [[nodiscard]] PanelView& operator[](Metric metric) { return panels[static_cast<std::size_t>(metric)]; }

    [[nodiscard]] const PanelView& operator[](Metric metric) const { return panels[static_cast<std::size_t>(metric)]; }

    [[nodiscard]] bool follows() const
    {
        bool all = followsSteps;
        for (const PanelView& panel : panels) {
            all = all && panel.follows;
        }
        return all;
    }

    bool operator==(const ViewState&) const = default;
};

/// One change of the view. Changes of one kind that follow each other closely (turns of the wheel, a slider) undo as
/// one.
class ViewCommand : public QUndoCommand
{
public:
    using Apply = std::function<void(const ViewState&)>;

    /// `kind` > 0: may be merged with commands of the same kind.
    ViewCommand(const QString& text, const ViewState& before, const ViewState& after, int kind, Apply apply);

    void undo() override;
    void redo() override;

    [[nodiscard]] int id() const override { return m_kind > 0 ? m_kind : -1; }

    bool mergeWith(const QUndoCommand* other) override;

private:
    ViewState m_before;
    ViewState m_after;
    int m_kind;
    Apply m_apply;
    QElapsedTimer m_age;
    bool m_isApplied = true; ///< the view was changed before the command was pushed
};

} // namespace mantissa
