/// The "Gradients" tab: magnitudes of a lane's tensors at a sampled step, the zones of its format, and the scale to be
/// moved until the gradient fits.
#pragma once

#include "ui/gradients/histogram_plot.h"
#include "ui/session/run_loader.h"
#include "ui/session/session_controller.h"

#include <QWidget>

#include <cstdint>
#include <optional>

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QSlider;
class QSpinBox;
class QToolButton;

namespace mantissa {

class RunBanner;
class ScaleTable;

class GradientsPanel : public QWidget
{
    Q_OBJECT
public:
    explicit GradientsPanel(SessionController* controller, QWidget* parent = nullptr);

    /// Whose tensors are shown, and its colour.
    void setLane(std::optional<std::uint32_t> lane, const QColor& color);
    /// A stored run instead, until another lane is set or a person goes back.
    void showStored(const StoredLookPtr& stored, const QColor& color);
    void showStep(std::int64_t step); ///< the sample at it, or the last before
    /// Which tensors: gradients, unless told otherwise, of the whole net if `tensor` is empty.
    void showTensor(TensorRole role, const QString& tensor);
    void tryExponent(int exponent); ///< shows what the scale 2^exponent would do
    void applyScale(); ///< the one that is tried

    [[nodiscard]] HistogramPlot* plot() const { return m_plot; }

    [[nodiscard]] ScaleTable* scaleTable() const { return m_table; }

    [[nodiscard]] QSlider* scaleSlider() const { return m_scale; }

    [[nodiscard]] QSlider* stepSlider() const { return m_steps; }

    [[nodiscard]] QComboBox* roleCombo() const { return m_role; }

    [[nodiscard]] QComboBox* tensorCombo() const { return m_tensor; }

    [[nodiscard]] QPushButton* applyButton() const { return m_apply; }

    [[nodiscard]] QSpinBox* intervalField() const { return m_interval; }

    [[nodiscard]] QCheckBox* countBox() const { return m_counts; }

    [[nodiscard]] QString forecastText() const;

    /// Throws Error (Io); PNG or PDF by suffix, anything else as CSV. A histogram must be shown.
    void exportTo(const QString& file) const;

public slots:
    void showExportDialog();
    void copyPicture() const;

signals:
    void notice(const QString& text); ///< something to say in the status bar

protected:
    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void follow();
    void redraw();
    void fillTensors(const StepSample& sample);
    void update(const SamplePtr& sample);
    void updateScale();
    void updateApply();
    [[nodiscard]] bool canTry() const;
    [[nodiscard]] std::optional<TensorSample> sumOf(const StepSample& sample, TensorRole role) const;
    [[nodiscard]] QString fidelityText(const StepSample& sample) const;
    [[nodiscard]] QString whyNotApply() const;
    [[nodiscard]] SamplePtr shown() const;
    void closeStored();
    [[nodiscard]] const std::vector<SamplePtr>& samples() const; ///< of the lane or stored run
    [[nodiscard]] const LaneStatus* laneStatus() const; ///< null for a stored run
    [[nodiscard]] QString name() const;

    SessionController* m_controller;
    RunBanner* m_banner;
    QComboBox* m_role;
    QComboBox* m_tensor;
    QSpinBox* m_interval;
    QPushButton* m_now;
    QCheckBox* m_counts; ///< roundings in every step
    QToolButton* m_export;
    HistogramPlot* m_plot;
    QSlider* m_scale;
    QLabel* m_scaleText;
    QPushButton* m_apply;
    QLabel* m_forecast;
    QSlider* m_steps;
    QLabel* m_stepText;
    ScaleTable* m_table;
    std::optional<std::uint32_t> m_lane;
    QColor m_color;
    StoredLookPtr m_stored; ///< shown instead of the lane
    QColor m_storedColor;
    std::optional<int> m_tried; ///< exponent of a scale that a person tries
    bool m_followsNewest = true;
    SamplePtr m_drawn;
};

} // namespace mantissa
