// How Dashboard reacts: pointer, view history, menus, files.
#include "engine/core/error.h"
#include "ui/plots/dashboard_private.h"
#include "ui/plots/panel_header.h"
#include "ui/plots/smoothing.h"
#include "ui/style/number_format.h"

#include <QActionGroup>
#include <QDir>
#include <QFileDialog>
#include <QMenu>
#include <QMessageBox>
#include <QToolTip>

#include <cmath>

namespace mantissa {

namespace {

constexpr int smoothingKind = 10;
constexpr qint64 frameLabelEveryMs = 250;
constexpr double endGrabDistance = 8;

enum FileKind { Png, Pdf, Svg, CsvVisible, CsvAll };

QString withSuffix(const QString& file, const QString& suffix)
{
    return QFileInfo(file).suffix().isEmpty() ? file + QLatin1Char('.') + suffix : file;
}

} // namespace

void Dashboard::Private::connectParts()
{
    QObject::connect(
        canvas, &PlotCanvas::viewEdited, q, [this](const ViewState& before, const QString& what, int kind) {
            undo->push(new ViewCommand(what, before, canvas->view(), kind, [this](const ViewState& view) {
                const ViewState old = canvas->view();
                canvas->setView(fitted(view));
                touch();
                announce(old);
            }));
            touch();
            announce(before);
        });
    QObject::connect(canvas, &PlotCanvas::pointerMoved, q,
        [this](const QPointF& position, bool inPlot) { onPointer(position, inPlot); });
    QObject::connect(canvas, &PlotCanvas::fitRequested, q, &Dashboard::fit);
    QObject::connect(canvas, &PlotCanvas::fitHeightRequested, q, [this](Metric metric) { fitHeight(metric); });
    QObject::connect(canvas, &PlotCanvas::menuRequested, q,
        [this](Metric metric, const QPoint& position) { showMenu(metric, position); });
    QObject::connect(canvas, &PlotCanvas::cursorKey, q, [this](int steps, bool toEnd) {
        if (toEnd) {
            placeCursor(steps < 0 ? data.firstStep() : data.lastStep());
        } else {
            q->moveCursor(steps);
        }
    });
    QObject::connect(canvas, &PlotCanvas::replotted, q, [this](double milliseconds) {
        frame.lastMs = std::exchange(m_refreshMs, 0) + milliseconds;
        frame.maxMs = std::max(frame.maxMs, frame.lastMs);
        ++frame.frames;
        if (frameLabel->isVisible()
            && (!m_frameLabelClock.isValid() || m_frameLabelClock.elapsed() > frameLabelEveryMs)) {
            m_frameLabelClock.start();
            frameLabel->setText(
                tr("frame %1 ms, worst %2 ms").arg(frame.lastMs, 0, 'f', 1).arg(frame.maxMs, 0, 'f', 1));
            frameLabel->adjustSize();
        }
    });
    for (const Metric metric : allMetrics) {
        PanelHeader* header = canvas->header(metric);
        QObject::connect(header, &PanelHeader::logToggled, q, [this, metric] { toggleLog(metric); });
        QObject::connect(header, &PanelHeader::fitClicked, q, &Dashboard::fit);
        QObject::connect(header, &PanelHeader::smoothingEdited, q, &Dashboard::setSmoothing);
        QObject::connect(header, &PanelHeader::differenceToggled, q, &Dashboard::setDifferenceVisible);
    }
    QObject::connect(table, &LaneTable::visibilityRequested, q, &Dashboard::setLaneVisible);
    QObject::connect(table, &LaneTable::isolateRequested, q, &Dashboard::isolateLane);
    QObject::connect(table, &LaneTable::hovered, q, &Dashboard::highlightLane);
    QObject::connect(table, &LaneTable::activated, q, &Dashboard::laneActivated);
    QObject::connect(table, &LaneTable::baselineRequested, q, &Dashboard::setBaseline);
    auto* exportMenu = new QMenu(q);
    fillExportMenu(exportMenu);
    canvas->header(Metric::Loss)->setExportMenu(exportMenu);
}

void Dashboard::Private::editView(ViewState view, const QString& what, int kind)
{
    canvas->edit(fitted(std::move(view)), what, kind);
}

void Dashboard::Private::announce(const ViewState& before)
{
    const ViewState& now = canvas->view();
    if (before.smoothing != now.smoothing) {
        emit q->smoothingChanged(now.smoothing);
    }
    if (before.showsDifference != now.showsDifference) {
        m_sinceLayout.start();
        emit q->differenceVisibleChanged(now.showsDifference);
    }
    if (before.follows() != now.follows()) {
        emit q->followingChanged(now.follows());
    }
    refresh();
}

void Dashboard::Private::onPointer(const QPointF& position, bool inPlot)
{
    m_pointer = inPlot ? std::optional(position) : std::nullopt;
    placeCursor(inPlot ? std::optional(std::llround(canvas->pixelToStep(position.x()))) : std::nullopt);
    QString tip = inPlot ? canvas->decor()->textAt(position) : QString();
    const QString ending = inPlot ? endingAt(position) : QString();
    if (!ending.isEmpty()) {
        tip += (tip.isEmpty() ? QString() : QStringLiteral("\n")) + ending;
    }
    if (!tip.isEmpty()) {
        QToolTip::showText(canvas->mapToGlobal(position.toPoint()), tip, canvas);
    } else if (m_showsTip) {
        QToolTip::hideText();
    }
    m_showsTip = !tip.isEmpty();
}

QString Dashboard::Private::endingAt(const QPointF& position) const
{
    const auto metric = canvas->metricAt(position);
    if (!metric) {
        return {};
    }
    for (const auto& lane : data.lanes()) {
        const SeriesPyramid& series = *metric == Metric::GradientNorm ? lane->gradNorm : lane->loss;
        if (lane->endStep < 0 || !lane->isVisible || series.empty()) {
            continue;
        }
        const auto end = series.lastFinite(lane->endStep);
        if (end && std::abs(canvas->stepToPixel(end->step) - position.x()) <= endGrabDistance) {
            return tr("%1: %2").arg(lane->curve.name, lane->endReason);
        }
    }
    return {};
}

void Dashboard::Private::toggleLog(Metric metric)
{
    ViewState next = canvas->view();
    PanelView& panel = next[metric];
    panel.isLog = !panel.isLog;
    if (panel.isLog) {
        SeriesStats all;
        for (const PanelSeries& shown : seriesOf(metric)) {
            all.merge(shown.series->stats(0, SeriesPyramid::maximumStep));
        }
        if (all.finite > 0 && !std::isfinite(all.smallestPositive)) {
            canvas->header(metric)->setLog(false);
            emit q->notice(
                tr("Nothing here is greater than 0, so a logarithmic axis would be empty. The axis stays linear."));
            return;
        }
        if (panel.range.lower <= 0) {
            const double least = all.finite > 0 ? all.smallestPositive : panel.range.upper * 1e-3;
            panel.range.lower = std::min(least, panel.range.upper / 10);
        }
        if (panel.range.upper <= 0) {
            panel.follows = true;
        }
    }
    editView(next, panel.isLog ? tr("Logarithmic axis") : tr("Linear axis"));
}

void Dashboard::Private::fitHeight(Metric metric)
{
    ViewState next = canvas->view();
    next[metric].follows = true;
    next[metric].range = noRange; // one that is left over would be kept if it holds the data
    next[metric].range = fittedValues(metric, next);
    if (std::isnan(next[metric].range.lower)) {
        next[metric].range = canvas->view()[metric].range;
    }
    editView(next, tr("Fit height"));
}

void Dashboard::Private::showMenu(Metric metric, const QPoint& globalPosition)
{
    QMenu menu(q);
    const ViewState& view = canvas->view();
    QAction* fit = menu.addAction(tr("Fit\tF"), q, &Dashboard::fit);
    fit->setEnabled(!view.follows());
    menu.addAction(tr("Fit height of this plot"), q, [this, metric] { fitHeight(metric); });
    menu.addAction(tr("Zoom in\t+"), q, &Dashboard::zoomIn);
    menu.addAction(tr("Zoom out\t\u2212"), q, &Dashboard::zoomOut);
    menu.addSeparator();
    QAction* log = menu.addAction(tr("Logarithmic axis\tL"), q, [this, metric] { toggleLog(metric); });
    log->setCheckable(true);
    log->setChecked(view[metric].isLog);
    QAction* outliers = menu.addAction(tr("Leave outliers out of the fit"), q, [this] {
        ViewState next = canvas->view();
        next.ignoresOutliers = !next.ignoresOutliers;
        editView(next, tr("Outliers"));
    });
    outliers->setCheckable(true);
    outliers->setChecked(view.ignoresOutliers);
    QMenu* smoothing = menu.addMenu(tr("Smoothing"));
    auto* group = new QActionGroup(smoothing);
    for (const double weight : {0.0, 0.6, 0.9, 0.97, 0.99, 0.999}) {
        QAction* action = smoothing->addAction(
            weight == 0 ? tr("Off") : formatValue(weight), q, [this, weight] { q->setSmoothing(weight); });
        action->setCheckable(true);
        action->setChecked(view.smoothing == weight);
        group->addAction(action);
    }
    QAction* difference = menu.addAction(tr("Difference to the baseline\tD"), q, &Dashboard::toggleDifference);
    difference->setCheckable(true);
    difference->setChecked(view.showsDifference);
    menu.addSeparator();
    fillExportMenu(&menu);
    menu.exec(globalPosition);
}

void Dashboard::Private::fillExportMenu(QMenu* menu)
{
    menu->addAction(tr("Copy picture"), q, &Dashboard::copyPicture);
    menu->addAction(tr("Copy numbers in view"), q, &Dashboard::copyData);
    menu->addSeparator();
    menu->addAction(tr("Save as PNG\u2026"), q, [this] { chooseFileAndSave(Png); });
    menu->addAction(tr("Save as PDF\u2026"), q, [this] { chooseFileAndSave(Pdf); });
    menu->addAction(tr("Save as SVG\u2026"), q, [this] { chooseFileAndSave(Svg); });
    menu->addAction(tr("Save numbers in view as CSV\u2026"), q, [this] { chooseFileAndSave(CsvVisible); });
    menu->addAction(tr("Save all numbers as CSV\u2026"), q, [this] { chooseFileAndSave(CsvAll); });
}

void Dashboard::Private::chooseFileAndSave(int kind)
{
    const QStringList suffixes {QStringLiteral("png"), QStringLiteral("pdf"), QStringLiteral("svg"),
        QStringLiteral("csv"), QStringLiteral("csv")};
    const QStringList filters {tr("Picture (*.png)"), tr("PDF document (*.pdf)"), tr("SVG drawing (*.svg)"),
        tr("Numbers in view (*.csv)"), tr("All numbers (*.csv)")};
    QString filter = filters[kind];
    const QString chosen = QFileDialog::getSaveFileName(
        q, tr("Export"), QStringLiteral("curves.") + suffixes[kind], filters.join(QStringLiteral(";;")), &filter);
    if (chosen.isEmpty()) {
        return;
    }
    kind = static_cast<int>(std::max<qsizetype>(0, filters.indexOf(filter)));
    const QString file = withSuffix(chosen, suffixes[kind]);
    save(file, [this, kind, file] {
        switch (kind) {
        case Png:
            q->exportPng(file);
            break;
        case Pdf:
            q->exportPdf(file);
            break;
        case Svg:
            q->exportSvg(file);
            break;
        default:
            q->exportCsv(file, kind == CsvAll ? CsvRange::All : CsvRange::Visible);
            break;
        }
    });
}

void Dashboard::Private::save(const QString& file, const std::function<void()>& write)
{
    try {
        write();
        emit q->notice(tr("Saved %1").arg(QDir::toNativeSeparators(file)));
    } catch (const Error& error) {
        QMessageBox::warning(q, tr("Export"), QString::fromUtf8(error.what()));
    }
}

std::vector<LegendRow::Entry> Dashboard::Private::legend() const
{
    std::vector<LegendRow::Entry> entries;
    for (const auto& lane : data.lanes()) {
        if (lane->isVisible) {
            entries.push_back({lane->curve.name, colorOf(*lane), styleOf(*lane)});
        }
    }
    return entries;
}

void Dashboard::showExportDialog()
{
    d->chooseFileAndSave(Png);
}

void Dashboard::setSmoothing(double weight)
{
    ViewState next = d->canvas->view();
    next.smoothing = std::isfinite(weight) ? std::clamp(weight, 0.0, maximumSmoothing) : 0;
    d->editView(next, tr("Smoothing"), smoothingKind);
}

} // namespace mantissa
