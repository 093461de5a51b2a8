/// The small controls at the upper right corner of a plot.
#pragma once

#include <QWidget>

class QDoubleSpinBox;
class QMenu;
class QSlider;
class QToolButton;

namespace mantissa {

class PanelHeader : public QWidget
{
    Q_OBJECT

public:
    /// `plotName` goes into the accessible names. `hasSmoothing`: also carries the controls that concern all plots.
    PanelHeader(const QString& plotName, bool hasSmoothing, QWidget* parent);

    void setPlotName(const QString& plotName);
    void setLog(bool log);
    void setFollows(bool follows); ///< greys the fit button: there is nothing to fit
    void setSmoothing(double weight);
    void setDifference(bool shown);
    void setExportMenu(QMenu* menu);

signals:
    void logToggled(bool log);
    void fitClicked();
    void smoothingEdited(double weight);
    void differenceToggled(bool shown);

protected:
    void changeEvent(QEvent* event) override;

private:
    void buildSmoothing();
    void retranslate();

    QString m_plotName;
    QSlider* m_slider = nullptr;
    QDoubleSpinBox* m_weight = nullptr;
    QToolButton* m_difference = nullptr;
    QToolButton* m_export = nullptr;
    QToolButton* m_log;
    QToolButton* m_fit;
};

} // namespace mantissa
