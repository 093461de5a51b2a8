#include "ui/plots/scale_path_plot.h"

#include "engine/core/error.h"
#include "ui/plots/axis_tickers.h"
#include "ui/plots/curve_export.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMessageBox>
#include <QSvgGenerator>
#include <QVBoxLayout>
#include <qcustomplot.h>

#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr int legendColumns = 4;

/// A log axis has no place for others.
bool canBeDrawn(double scale)
{
    return std::isfinite(scale) && scale > 0;
}

QVector<double> drawn(const std::vector<QPointF>& points, double (QPointF::*coordinate)() const)
{
    QVector<double> numbers;
    for (const QPointF& point : points) {
        const bool isGap = !canBeDrawn(point.y()) && coordinate == &QPointF::y;
        numbers.append(isGap ? std::numeric_limits<double>::quiet_NaN() : (point.*coordinate)());
    }
    return numbers;
}

void paint(QCustomPlot& plot, QPaintDevice& device)
{
    QCPPainter painter(&device);
    painter.setMode(QCPPainter::pmVectorized, device.paintEngine()->type() != QPaintEngine::Raster);
    painter.setMode(QCPPainter::pmNoCaching);
    plot.toPainter(&painter, plot.width(), plot.height());
}

bool writeNumbers(QIODevice& device, const std::vector<ScalePath>& paths)
{
    QByteArray text = "scaler,step,scale,skipped\n";
    const auto addLine = [&text](const QString& name, const QPointF& point, bool isSkip) {
        const QString scale = formatExact(point.y());
        text += QStringLiteral("\"%1\",%2,%3,%4\n")
                    .arg(name, QString::number(static_cast<qint64>(point.x())), scale,
                        isSkip ? QStringLiteral("1") : QStringLiteral("0"))
                    .toUtf8();
    };
    for (const ScalePath& path : paths) {
        for (const QPointF& corner : path.corners) {
            addLine(path.name, corner, false);
        }
        for (const QPointF& skip : path.skips) {
            addLine(path.name, skip, true);
        }
    }
    return device.write(text) == text.size();
}

} // namespace

ScalePath pathOf(const Play& play)
{
    ScalePath path;
    path.corners.emplace_back(0, play.firstScale);
    double before = play.firstScale;
    for (std::size_t i = 0; i < play.steps.size(); ++i) {
        const PlayedStep& step = play.steps[i];
        if (step.skipped) {
            path.skips.emplace_back(static_cast<double>(i), before);
        }
        if (step.scale != before) {
            path.corners.emplace_back(static_cast<double>(i + 1), step.scale);
        }
        before = step.scale;
    }
    path.corners.emplace_back(static_cast<double>(play.steps.size()), before);
    return path;
}

ScalePathPlot::ScalePathPlot(QWidget* parent)
    : QWidget(parent)
    , m_plot(new QCustomPlot)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_plot);
    setMinimumSize(320, 200);
    m_plot->setContextMenuPolicy(Qt::NoContextMenu);
    m_plot->xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new ValueTicker(true)));
    m_plot->yAxis->setScaleType(QCPAxis::stLogarithmic);
    m_plot->yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new PowerTicker(2)));
    m_plot->axisRect()->setupFullAxesBox();
    m_plot->xAxis->setSubTicks(false);
    for (QCPAxis* opposite : {m_plot->xAxis2, m_plot->yAxis2}) {
        opposite->setTicks(false);
    }
    m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    connect(m_plot, &QCustomPlot::mouseDoubleClick, this, &ScalePathPlot::fit);
    // Below the plot, where it covers no curve.
    auto* legendRow = new QCPLayoutGrid;
    m_plot->plotLayout()->addElement(1, 0, legendRow);
    legendRow->addElement(0, 0, m_plot->legend);
    m_plot->legend->setVisible(true);
    m_plot->legend->setFillOrder(QCPLayoutGrid::foColumnsFirst);
    m_plot->legend->setWrap(legendColumns);
    m_plot->legend->setBorderPen(Qt::NoPen);
    m_plot->plotLayout()->setRowStretchFactor(1, 0.001);
    setAccessibleName(tr("Scales over the steps"));
    applyTheme();
}

void ScalePathPlot::setPaths(std::vector<ScalePath> paths)
{
    m_paths = std::move(paths);
    redraw();
    fit();
    setAccessibleDescription(summary());
}

void ScalePathPlot::redraw()
{
    m_plot->clearGraphs();
    const QColor background = plotColors(palette()).background;
    for (const ScalePath& path : m_paths) {
        const QColor color = readableOn(path.color, background);
        QCPGraph* line = m_plot->addGraph();
        line->setName(path.name + QLatin1Char(' ')); // the legend measures a name a little too narrow
        line->setLineStyle(QCPGraph::lsStepLeft);
        line->setPen(QPen(color, 2, path.style));
        line->setData(drawn(path.corners, &QPointF::x), drawn(path.corners, &QPointF::y), true);
        QCPGraph* crosses = m_plot->addGraph();
        crosses->removeFromLegend();
        crosses->setLineStyle(QCPGraph::lsNone);
        crosses->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCross, QPen(color, 1.5), Qt::NoBrush, 8));
        crosses->setData(drawn(path.skips, &QPointF::x), drawn(path.skips, &QPointF::y), true);
    }
}

void ScalePathPlot::fit()
{
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    double last = 1;
    for (const ScalePath& path : m_paths) {
        for (const QPointF& corner : path.corners) {
            last = std::max(last, corner.x());
            if (canBeDrawn(corner.y())) {
                low = std::min(low, corner.y());
                high = std::max(high, corner.y());
            }
        }
    }
    m_plot->xAxis->setRange(-0.02 * last, 1.02 * last);
    m_plot->yAxis->setRange(high > 0 ? low / 2 : 0.5, high > 0 ? high * 2 : 2);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QString ScalePathPlot::summary() const
{
    QStringList sentences;
    for (const ScalePath& path : m_paths) {
        sentences << tr("%1: scale %2 at the start, %3 at the end, %n step(s) skipped.", nullptr,
            static_cast<int>(path.skips.size()))
                         .arg(path.name, formatScale(path.corners.front().y()), formatScale(path.corners.back().y()));
    }
    return sentences.join(QLatin1Char('\n'));
}

void ScalePathPlot::applyTheme()
{
    m_plot->xAxis->setLabel(tr("step"));
    m_plot->yAxis->setLabel(tr("scale; \u00d7 skipped step"));
    const PlotColors colors = plotColors(palette());
    m_plot->setBackground(colors.surround);
    m_plot->axisRect()->setBackground(colors.background);
    for (QCPAxis* axis : m_plot->axisRect()->axes()) {
        axis->setBasePen(QPen(colors.axis, 1));
        axis->setTickPen(QPen(colors.axis, 1));
        axis->setSubTickPen(QPen(colors.axis, 1));
        axis->setLabelColor(colors.text);
        axis->setTickLabelColor(colors.text);
        axis->setLabelFont(font());
        axis->setTickLabelFont(tabularFont(font()));
        axis->grid()->setPen(QPen(colors.grid, 1));
        axis->grid()->setSubGridVisible(false);
    }
    m_plot->legend->setBrush(Qt::NoBrush);
    m_plot->legend->setTextColor(colors.text);
    m_plot->legend->setFont(font());
    redraw();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void ScalePathPlot::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange
        || event->type() == QEvent::LanguageChange) {
        applyTheme();
    }
    QWidget::changeEvent(event);
}

void ScalePathPlot::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu;
    menu.addAction(tr("Fit"), this, &ScalePathPlot::fit);
    menu.addAction(tr("Copy picture"), this, &ScalePathPlot::copyPicture);
    menu.addAction(tr("Export\u2026"), this, &ScalePathPlot::showExportDialog);
    menu.exec(event->globalPos());
}

void ScalePathPlot::exportTo(const QString& file)
{
    const QString suffix = QFileInfo(file).suffix().toLower();
    writeFile(file, [&](QIODevice& device) {
        if (suffix == QLatin1String("csv")) {
            return writeNumbers(device, m_paths);
        }
        if (suffix == QLatin1String("svg")) {
            QSvgGenerator drawing;
            drawing.setOutputDevice(&device);
            drawing.setSize(m_plot->size());
            drawing.setViewBox(m_plot->rect());
            drawing.setTitle(tr("Scales"));
            paint(*m_plot, drawing);
            return true;
        }
        if (suffix == QLatin1String("pdf")) {
            QPdfWriter page(&device);
            page.setPageSize(QPageSize(QSizeF(m_plot->size()) * 0.75, QPageSize::Point));
            page.setPageMargins({});
            page.setResolution(96);
            paint(*m_plot, page);
            return true;
        }
        return m_plot->toPixmap(m_plot->width(), m_plot->height(), 2).save(&device, "PNG");
    });
}

void ScalePathPlot::showExportDialog()
{
    const QStringList suffixes {
        QStringLiteral("png"), QStringLiteral("pdf"), QStringLiteral("svg"), QStringLiteral("csv")};
    const QStringList filters {
        tr("Picture (*.png)"), tr("PDF document (*.pdf)"), tr("SVG drawing (*.svg)"), tr("Numbers (*.csv)")};
    QString filter = filters.front();
    QString file = QFileDialog::getSaveFileName(
        this, tr("Export"), QStringLiteral("scales.png"), filters.join(QStringLiteral(";;")), &filter);
    if (file.isEmpty()) {
        return;
    }
    if (QFileInfo(file).suffix().isEmpty()) {
        file += QLatin1Char('.') + suffixes.value(filters.indexOf(filter));
    }
    try {
        exportTo(file);
        emit notice(tr("Saved %1").arg(QDir::toNativeSeparators(file)));
    } catch (const Error& error) {
        QMessageBox::warning(this, tr("Export"), QString::fromUtf8(error.what()));
    }
}

void ScalePathPlot::copyPicture()
{
    QApplication::clipboard()->setPixmap(m_plot->toPixmap(m_plot->width(), m_plot->height(), 2));
    emit notice(tr("Copied the picture"));
}

} // namespace mantissa
