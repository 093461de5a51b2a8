/// The lanes of the experiment as cards, scrolling, with a button to add one. Also the one place that says which
/// colour, line style and visibility a lane has.
#pragma once

#include "ui/session/session_controller.h"
#include "ui/style/lane_combo.h"
#include "ui/views/lane_card.h"

#include <QTimer>
#include <QWidget>

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

class QMenu;
class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace mantissa {

class LaneList : public QWidget
{
    Q_OBJECT
public:
    explicit LaneList(SessionController* controller, QWidget* parent = nullptr);

    [[nodiscard]] std::vector<std::uint32_t> lanes() const; ///< in the order shown
    [[nodiscard]] LaneChoice look(std::uint32_t lane) const; ///< how it is drawn everywhere
    [[nodiscard]] std::vector<LaneChoice> choices() const; ///< look() of all

    [[nodiscard]] std::optional<std::uint32_t> selected() const { return m_selected; }

    [[nodiscard]] LaneCard* card(std::uint32_t lane) const;
    void setShown(std::uint32_t lane, bool isShown);

    [[nodiscard]] bool isShown(std::uint32_t lane) const { return m_hidden.count(lane) == 0; }

    /// "Add lane" and its choices, also for the menu bar.
    [[nodiscard]] QMenu* addMenu() const { return m_addMenu; }

public slots:
    void select(std::uint32_t lane);
    void unfoldAll();
    void foldAll();

signals:
    void selectionChanged(std::uint32_t lane);
    void visibilityToggled(std::uint32_t lane);
    void goBackWanted(std::uint32_t lane);
    void deviceWanted(std::uint32_t lane, const QString& device);

protected:
    void changeEvent(QEvent* event) override;

private:
    void clear();
    void rebuild();
    void fitWidth();
    void applyLooks();
    void refreshValues();
    void addPreset(const QString& name, const nlohmann::json& patch);
    void fillAddMenu();

    SessionController* m_controller;
    QScrollArea* m_scroll;
    QVBoxLayout* m_column;
    QMenu* m_addMenu;
    QTimer m_valueTimer; ///< numbers that change faster than this can't be read
    std::vector<LaneCard*> m_cards;
    std::set<std::uint32_t> m_hidden;
    std::optional<std::uint32_t> m_selected;
};

} // namespace mantissa
