/// One lane's settings and present values. What is changed here is a command to the session; it looks pending until the
/// next step boundary has applied it.
#pragma once

#include "ui/session/session_controller.h"

#include <QColor>
#include <QFrame>

#include <cstdint>
#include <memory>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QMenu;
class QToolButton;

namespace mantissa {

class LogSlider;
class NameField;
class NumberField;
class ScalerForm;
struct CardValues;

class LaneCard : public QFrame
{
    Q_OBJECT
public:
    /// How much of the card is open; the button in its corner and the settings line move between them.
    enum class Detail {
        Line, ///< name and loss only
        Values, ///< and the present numbers
        Settings ///< and all controls
    };

    LaneCard(SessionController* controller, std::uint32_t lane, QWidget* parent = nullptr);
    ~LaneCard() override;

    [[nodiscard]] std::uint32_t lane() const { return m_lane; }

    void setLook(const QColor& color, Qt::PenStyle style, bool isShown);
    void setDetail(Detail detail);

    [[nodiscard]] Detail detail() const { return m_detail; }

    void setSelected(bool isSelected);

    [[nodiscard]] bool isSelected() const { return m_isSelected; }

    void setRemovable(bool isRemovable);
    [[nodiscard]] int widthWanted() const; ///< with everything unfolded, so that unfolding never widens the list

    void followSettings(); ///< refreshSettings() if the session holds other settings than those shown
    void refreshSettings(); ///< from the session's status and pending changes
    void refreshValues(); ///< from the newest record; a few times a second is enough to read

signals:
    void chosen(std::uint32_t lane);
    void visibilityToggled(std::uint32_t lane);
    void goBackWanted(std::uint32_t lane);
    void deviceWanted(std::uint32_t lane, const QString& device); ///< "session": that of all lanes
    void detailChanged();

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeHeader();
    QWidget* makeValues();
    QWidget* makeSettings();
    void addRow(QGridLayout* grid, const QString& name, QWidget* control);
    void connectControls();
    void updateLook();
    void updateScalerControls(const LaneConfig& config);
    void updateClipControls(const LaneConfig& config);
    void chooseColor();
    void fillDeviceMenu();
    void changePolicy(int index);
    void changeScaler(int index);
    void changeScale(double scale);
    void changeClipOrder(int index);
    void send(const std::string& path, const nlohmann::json& value);

    SessionController* m_controller;
    std::uint32_t m_lane;
    QColor m_color;
    Qt::PenStyle m_style = Qt::SolidLine;
    bool m_isShown = true;
    bool m_isSelected = false;
    bool m_isFilling = false; ///< controls change because the session did
    Detail m_detail = Detail::Values;

    QToolButton* m_swatch = nullptr;
    NameField* m_name = nullptr;
    QLabel* m_loss = nullptr;
    QToolButton* m_lock = nullptr;
    QToolButton* m_more = nullptr;
    QToolButton* m_fold = nullptr;
    QAction* m_removeAction = nullptr;
    QMenu* m_deviceMenu = nullptr;
    QAction* m_baselineAction = nullptr;
    QAction* m_showAction = nullptr;
    QWidget* m_valuesPart = nullptr;
    QWidget* m_settingsPart = nullptr;
    QToolButton* m_summary = nullptr;
    QLabel* m_sentence = nullptr;
    std::unique_ptr<CardValues> m_values;
    QComboBox* m_precision = nullptr;
    QComboBox* m_weights = nullptr;
    QComboBox* m_scaler = nullptr;
    LogSlider* m_scale = nullptr;
    ScalerForm* m_parameters = nullptr;
    QCheckBox* m_frozen = nullptr;
    QComboBox* m_clipOrder = nullptr;
    NumberField* m_clipNorm = nullptr;
    LogSlider* m_rate = nullptr;
    std::shared_ptr<const LaneConfig> m_filledFrom;
};

} // namespace mantissa
