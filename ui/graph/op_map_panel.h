/// The "Graph" tab: what a lane's training step executes, as the session runs it, and its formats to be changed there.
#pragma once

#include "ui/graph/format_patch.h"
#include "ui/graph/op_map_view.h"
#include "ui/session/session_controller.h"
#include "ui/style/lane_combo.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

class QLabel;
class QLineEdit;
class QMenu;
class QToolButton;

namespace mantissa {

class OpMapPicture;

class OpMapPanel : public QWidget
{
    Q_OBJECT
public:
    explicit OpMapPanel(SessionController* controller, QWidget* parent = nullptr);

    void setLanes(const std::vector<LaneChoice>& lanes);
    void setLane(std::uint32_t lane); ///< the one that is shown
    /// Selects the op that makes the value; false if the graph has no such value.
    bool showValue(const QString& name);

    [[nodiscard]] OpMapView* view() const { return m_view; }

    [[nodiscard]] QLineEdit* searchField() const { return m_search; }

    [[nodiscard]] LaneCombo* laneCombo() const { return m_lanes; }

    /// "51 ops, 111 casts per step; 27 in FP16, 24 in FP32", and what the last change did to the casts.
    [[nodiscard]] QString summaryText() const;

    /// Throws Error (Io); PNG, PDF or SVG by suffix. The panel must show a graph.
    void exportPicture(const QString& file) const;

public slots:
    void focusSearch();
    void copyPicture() const;
    void showExportDialog();

signals:
    void laneChosen(std::uint32_t lane);
    void notice(const QString& text); ///< something to say in the status bar

protected:
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override; ///< keys of the search

private:
    void follow();
    void followPending();
    void showEmpty(const QString& text);
    void updateTexts();
    void showMatches();
    void showFormatMenu(NodeIndex node, const QPoint& globalPosition);
    void showMapMenu(const QPoint& globalPosition);
    void addOpChoices(QMenu* menu, NodeIndex op, std::string_view suffix);
    void addKindChoices(QMenu* menu, NodeIndex op, std::string_view suffix);
    void addChoices(QMenu* menu, const QString& unforced, const std::optional<std::string>& present,
        const std::function<nlohmann::json(const std::optional<std::string>&)>& patchFor);
    void apply(const nlohmann::json& patch);
    void foldOrUnfold();
    [[nodiscard]] bool hasFolded() const;
    [[nodiscard]] const LaneStatus* laneStatus() const;
    [[nodiscard]] QString pendingText(const nlohmann::json& patch, NodeIndex op) const;
    [[nodiscard]] OpMapPicture picture() const;

    SessionController* m_controller;
    LaneCombo* m_lanes;
    QLineEdit* m_search;
    QLabel* m_found;
    QToolButton* m_fold;
    QToolButton* m_export;
    QLabel* m_summary;
    QLabel* m_trouble;
    OpMapView* m_view;
    std::optional<std::uint32_t> m_lane;
    std::shared_ptr<const Graph> m_shown;
    std::optional<int> m_casts; ///< of the graph that is shown
    int m_castsChange = 0; ///< by the last change
};

} // namespace mantissa
