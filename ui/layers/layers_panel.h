/// The "Layers" tab: a lane's sampled steps layer by layer, what becomes of its gradient, and what its scaler did.
#pragma once

#include "ui/layers/layer_table.h"
#include "ui/layers/ledger_strip.h"
#include "ui/layers/survival_funnel.h"
#include "ui/session/run_loader.h"
#include "ui/session/session_controller.h"
#include "ui/style/lane_combo.h"

#include <QTimer>
#include <QWidget>

#include <map>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;
class QToolButton;

namespace mantissa {

class RunBanner;

class LayersPanel : public QWidget
{
    Q_OBJECT
public:
    explicit LayersPanel(SessionController* controller, QWidget* parent = nullptr);

    void setLanes(const std::vector<LaneChoice>& lanes);
    void setLane(std::uint32_t lane); ///< the one that is shown
    /// A stored run instead, until another lane is set or a person goes back.
    void showStored(const StoredLookPtr& stored);
    void setMeasure(LayerMeasure measure);
    void setGrouping(LayerGrouping grouping);
    /// Its row is chosen and the measure shown step by step; nothing is chosen if the lane has no such layer.
    void showLayer(const QString& layer, LayerMeasure measure);
    /// The steps of a lane as its run was stored, in place of those seen so far.
    void setColumns(std::uint32_t lane, const RunColumns& columns);

    [[nodiscard]] LayerTable* table() const { return m_table; }

    [[nodiscard]] const LayerTableModel& layers() const { return *m_layers; }

    [[nodiscard]] SurvivalFunnel* funnel() const { return m_funnel; }

    [[nodiscard]] LedgerStrip* ledgerStrip() const { return m_ledgerStrip; }

    [[nodiscard]] const SkipLedger& ledger(std::uint32_t lane) { return m_ledgers[lane]; }

    [[nodiscard]] LaneCombo* laneCombo() const { return m_lanes; }

    [[nodiscard]] QComboBox* measureCombo() const { return m_measures; }

    [[nodiscard]] QLineEdit* filterField() const { return m_filter; }

    [[nodiscard]] QPushButton* lookButton() const { return m_emptyLook; }

    /// Why there is no table; empty if there is one.
    [[nodiscard]] QString emptyText() const;
    /// What the line below the table says of the cell that is pointed at or chosen.
    [[nodiscard]] QString cellText() const;

    /// PNG or PDF of the heat map by suffix, or CSV of its numbers. Throws Error (Io).
    void exportTo(const QString& file) const;

public slots:
    void copyPicture() const;
    void showExportDialog();

signals:
    void laneChosen(std::uint32_t lane);
    void stepChosen(qint64 step);
    void notice(const QString& text); ///< something to say in the status bar

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void buildControls();
    void buildEmptyPage();
    void follow();
    void followSamples();
    void followLedger();
    void showEmpty(const QString& text, bool canLook);
    void chooseColumn(std::size_t column);
    void chooseStep(std::int64_t step);
    void updateCellText();
    [[nodiscard]] HeatPicture picture() const;
    void closeStored();
    [[nodiscard]] const LaneStatus* laneStatus() const; ///< null for a stored run
    [[nodiscard]] QString name() const;

    SessionController* m_controller;
    RunBanner* m_banner;
    LaneCombo* m_lanes;
    QComboBox* m_measures;
    QComboBox* m_groupings;
    QLineEdit* m_filter;
    QToolButton* m_look;
    QToolButton* m_export;
    QStackedWidget* m_stack;
    QWidget* m_emptyPage;
    QLabel* m_emptyLabel;
    QPushButton* m_emptyLook;
    QPushButton* m_switchOn;
    LayerTableModel* m_layers;
    LayerTable* m_table;
    QLabel* m_cell;
    SurvivalFunnel* m_funnel;
    LedgerStrip* m_ledgerStrip;
    QLabel* m_ledgerWords;
    QTimer m_timer; ///< numbers that change faster than this can't be read
    std::optional<std::uint32_t> m_lane;
    LayerGrouping m_grouping = LayerGrouping::Layers;
    std::optional<std::int64_t> m_step; ///< that a person chose; unset: the newest
    std::optional<HeatCell> m_hovered;
    std::map<std::uint32_t, SkipLedger> m_ledgers;
    StoredLookPtr m_stored; ///< shown instead of the lane
    SkipLedger m_storedLedger;
    bool m_isStale = true; ///< samples have come
};

} // namespace mantissa
