/// The watchpoints of the open experiment: a list to switch, change and add to. What is set here counts from the next
/// step on, and is saved with the experiment.
#pragma once

#include "engine/train/experiment.h"

#include <QDialog>

#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QTableWidget;

namespace mantissa {

class SessionController;
class WatchField;

class WatchDialog : public QDialog
{
    Q_OBJECT
public:
    explicit WatchDialog(SessionController* controller, QWidget* parent = nullptr);

    [[nodiscard]] QTableWidget* list() const { return m_list; }

    [[nodiscard]] QLineEdit* conditionField() const;

    [[nodiscard]] QComboBox* actionCombo() const { return m_action; }

    [[nodiscard]] QLineEdit* settingField() const { return m_setting; }

    [[nodiscard]] QComboBox* laneCombo() const { return m_lane; }

    /// What is wrong with what the fields say; empty if nothing is, or nothing was typed yet.
    [[nodiscard]] QString problem() const;

    [[nodiscard]] QPushButton* addButton() const { return m_add; }

    [[nodiscard]] QPushButton* changeButton() const { return m_change; }

    [[nodiscard]] QPushButton* removeButton() const { return m_remove; }

private:
    void fillList();
    void fillLanes();
    void showSelected();
    void judge();
    [[nodiscard]] std::optional<std::size_t> selected() const;
    [[nodiscard]] Watchpoint typed() const;
    void checkAgainstModels(const Watchpoint& watchpoint) const;
    void apply(std::vector<Watchpoint> watchpoints);

    SessionController* m_controller;
    QTableWidget* m_list;
    WatchField* m_condition;
    QLabel* m_problem;
    QComboBox* m_action;
    QLineEdit* m_setting;
    QComboBox* m_lane;
    QPushButton* m_add;
    QPushButton* m_change;
    QPushButton* m_remove;
    bool m_isFilling = false;
};

} // namespace mantissa
