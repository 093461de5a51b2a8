/// The selected lane's step: the order of its blocks, to be dragged, with what a wrong one does in numbers; the
/// switches that go with it; and faults to inject into the next step.
#pragma once

#include "engine/train/fault.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <string>
#include <vector>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QPushButton;
class QStackedWidget;
class QToolButton;

namespace mantissa {

class Graph;
class NumberField;
class OrderStrip;
class SessionController;
struct LaneStatus;

class StepPanel : public QWidget
{
    Q_OBJECT
public:
    /// Settings of the controller's lanes are shown and changed.
    explicit StepPanel(SessionController* controller, QWidget* parent = nullptr);

    /// Another lane, or none.
    void setLane(std::optional<std::uint32_t> lane);
    /// Shows what the lane's settings are now; cheap where nothing has changed.
    void follow();

    [[nodiscard]] OrderStrip* strip() const { return m_strip; }

protected:
    void changeEvent(QEvent* event) override;

private:
    /// A control for one setting; one of the three is there.
    struct Switch
    {
        std::string path;
        QCheckBox* box = nullptr;
        QComboBox* choice = nullptr;
        NumberField* number = nullptr;
    };

    [[nodiscard]] const LaneStatus* lane() const;
    QWidget* makeOrder();
    QWidget* makeFaults();
    QWidget* makeSwitches();
    void addBox(QGridLayout* grid, const char* path, const QString& text, const QString& hint);
    void addChoice(QGridLayout* grid, const char* path, const QString& name, const QString& hint,
        const std::vector<std::pair<QString, QString>>& choices);
    void addNumber(QGridLayout* grid, const char* path, const QString& name, const QString& hint, double lowest,
        double highest, const QString& requirement);
    void send(const std::string& path, const nlohmann::json& value);
    void showSwitches(const LaneStatus& lane);
    void showOrder(const LaneStatus& lane);
    void showLayers(const LaneStatus& lane);
    void chooseFault();
    void inject();

    SessionController* m_controller;
    std::optional<std::uint32_t> m_lane;
    QLabel* m_title = nullptr;
    OrderStrip* m_strip = nullptr;
    QToolButton* m_right = nullptr;
    QLabel* m_notes = nullptr;
    std::vector<Switch> m_switches;
    QComboBox* m_fault = nullptr;
    QStackedWidget* m_faultValue = nullptr;
    NumberField* m_faultNumber = nullptr;
    QComboBox* m_faultLayer = nullptr;
    QPushButton* m_inject = nullptr;
    std::shared_ptr<const LaneConfig> m_shown;
    std::shared_ptr<const Graph> m_shownGraph;
    double m_shownScale = 0;
    bool m_hasPending = false;
};

} // namespace mantissa
