/// The scales of several scalers over the same steps: log2 scale, a cross where a step was skipped, a legend.
#pragma once

#include "engine/scaling/scaler_play.h"

#include <QColor>
#include <QPointF>
#include <QString>
#include <QWidget>

#include <vector>

class QCustomPlot;

namespace mantissa {

/// One curve: the scale at each step, as far as it changes.
struct ScalePath
{
    QString name;
    QColor color;
    Qt::PenStyle style = Qt::SolidLine;
    std::vector<QPointF> corners; ///< step and the scale from it on; the last one is behind the last step
    std::vector<QPointF> skips; ///< step and the scale that it had
};

/// The corners and skips of a play; the rest is the caller's.
ScalePath pathOf(const Play& play);

class ScalePathPlot : public QWidget
{
    Q_OBJECT
public:
    explicit ScalePathPlot(QWidget* parent = nullptr);

    /// Shows all of them, on axes that fit.
    void setPaths(std::vector<ScalePath> paths);

    [[nodiscard]] const std::vector<ScalePath>& paths() const { return m_paths; }

    /// PNG, PDF, SVG or CSV by the file's suffix. Throws Error (Io) naming the file.
    void exportTo(const QString& file);

public slots:
    void showExportDialog();
    void copyPicture();
    void fit(); ///< both axes, after a person moved them

signals:
    void notice(const QString& text);

protected:
    void changeEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void redraw();
    void applyTheme();
    [[nodiscard]] QString summary() const;

    QCustomPlot* m_plot;
    std::vector<ScalePath> m_paths;
};

} // namespace mantissa
