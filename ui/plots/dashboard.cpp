#include "ui/plots/dashboard.h"

#include "ui/plots/curve_export.h"
#include "ui/plots/dashboard_private.h"
#include "ui/plots/smoothing.h"

#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QKeyEvent>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <QVBoxLayout>

#include <cmath>

namespace mantissa {

Dashboard::Private::Private(Dashboard* dashboard)
    : q(dashboard)
    , canvas(new PlotCanvas(dashboard))
    , table(new LaneTable(dashboard))
    , emptyLabel(new QLabel(canvas))
    , frameLabel(new QLabel(canvas))
    , undo(new QUndoStack(dashboard))
{
    constexpr int undoDepth = 100;
    undo->setUndoLimit(undoDepth);
    canvas->setAccessibleName(tr("Curves"));
    emptyLabel->setAlignment(Qt::AlignCenter);
    emptyLabel->setWordWrap(true);
    emptyLabel->setAttribute(Qt::WA_TransparentForMouseEvents);
    frameLabel->setAttribute(Qt::WA_TransparentForMouseEvents);
    frameLabel->setAutoFillBackground(true);
    frameLabel->setMargin(3);
    frameLabel->move(80, 32);
    frameLabel->hide();
}

Dashboard::Dashboard(QWidget* parent)
    : QWidget(parent)
    , d(std::make_unique<Private>(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(d->canvas, 1);
    column->addWidget(d->table);
    setFocusProxy(d->canvas);
    d->connectParts();
    d->updateContent();
    d->updateTable();
}

Dashboard::~Dashboard() = default;

void Dashboard::addLane(const LaneCurve& lane)
{
    d->data.put(lane);
    d->touch();
    d->updateTable();
}

void Dashboard::updateLane(const LaneCurve& lane)
{
    if (d->data.find(lane.key) != nullptr) {
        addLane(lane);
    }
}

void Dashboard::removeLane(quint64 key)
{
    if (d->highlighted == key) {
        d->highlighted.reset();
    }
    if (d->data.remove(key)) {
        // The curves point into the lane that is gone.
        d->updateContent();
        d->updateCursor();
        d->updateTable();
        d->touch();
    }
}

QList<quint64> Dashboard::laneKeys() const
{
    QList<quint64> keys;
    for (const auto& lane : d->data.lanes()) {
        keys.append(lane->curve.key);
    }
    return keys;
}

bool Dashboard::isLaneVisible(quint64 key) const
{
    const LaneData* lane = d->data.find(key);
    return lane != nullptr && lane->isVisible;
}

void Dashboard::append(std::span<const StepRecord> records)
{
    if (d->data.append(records)) {
        d->touch();
    }
}

void Dashboard::setColumns(quint64 key, RunColumns columns)
{
    if (d->data.setColumns(key, std::move(columns))) {
        d->touch();
    }
}

void Dashboard::addCorridor(quint64 key, qint64 step, double floor, double ceiling)
{
    if (LaneData* lane = d->data.find(key)) {
        if (floor > 0) {
            lane->scaleFloor.append(step, floor);
        }
        if (std::isfinite(ceiling)) {
            lane->scaleCeiling.append(step, ceiling);
        }
        d->touch();
    }
}

void Dashboard::addMark(std::optional<quint64> key, qint64 step, const QString& text)
{
    d->data.addMark({key, step, text});
    d->touch();
}

void Dashboard::addSeam(quint64 key, qint64 step, const QString& text)
{
    d->data.addMark({key, step, text, tr("resumed")});
    d->touch();
}

void Dashboard::endLane(quint64 key, qint64 step, const QString& reason)
{
    if (LaneData* lane = d->data.find(key)) {
        lane->endStep = step;
        lane->endReason = reason;
        d->touch();
    }
}

void Dashboard::truncateLane(quint64 key, qint64 firstDropped)
{
    d->data.truncate(key, firstDropped);
    d->touch();
}

void Dashboard::clear()
{
    d->data.clear();
    d->highlighted.reset();
    d->baselineKey.reset();
    d->distanceKey.reset();
    d->undo->clear();
    ViewState fresh = d->canvas->view();
    const ViewState before = fresh;
    const ViewState initial;
    fresh.steps = initial.steps;
    fresh.followsSteps = true;
    for (const Metric metric : allMetrics) {
        fresh[metric].follows = true;
        if (fresh[metric].isLog == initial[metric].isLog) {
            fresh[metric].range = initial[metric].range;
        }
    }
    d->canvas->setView(fresh);
    d->updateContent();
    d->placeCursor(std::nullopt);
    d->touch();
    d->announce(before);
}

void Dashboard::setBaseline(quint64 key)
{
    d->baselineKey = key;
    d->touch();
}

std::optional<quint64> Dashboard::baseline() const
{
    const LaneData* lane = d->baselineLane();
    return lane != nullptr ? std::optional(lane->curve.key) : std::nullopt;
}

void Dashboard::setDistanceReference(quint64 key)
{
    d->distanceKey = key;
    d->touch();
}

std::optional<qint64> Dashboard::partingStep(quint64 key) const
{
    const LaneData* lane = d->data.find(key);
    return lane != nullptr && lane != d->baselineLane() ? lane->difference.parting : std::nullopt;
}

void Dashboard::setExpectedSteps(qint64 steps)
{
    d->expectedSteps = std::max<qint64>(0, steps);
    d->touch();
}

void Dashboard::setEmptyText(const QString& text)
{
    d->emptyLabel->setText(text);
    d->touch();
}

void Dashboard::refresh()
{
    d->refresh();
}

void Dashboard::setDrawingShare(double share)
{
    d->setDrawingShare(share);
}

FrameTime Dashboard::frameTime() const
{
    return d->frame;
}

void Dashboard::resetFrameTime()
{
    d->frame = FrameTime();
}

QUndoStack* Dashboard::undoStack() const
{
    return d->undo;
}

double Dashboard::smoothing() const
{
    return d->canvas->view().smoothing;
}

bool Dashboard::isDifferenceVisible() const
{
    return d->canvas->view().showsDifference;
}

bool Dashboard::isFollowing() const
{
    return d->canvas->view().follows();
}

QJsonObject Dashboard::viewSettings() const
{
    const ViewState& view = d->canvas->view();
    return {{QStringLiteral("smoothing"), view.smoothing}, {QStringLiteral("difference"), view.showsDifference},
        {QStringLiteral("ignoreOutliers"), view.ignoresOutliers}, {QStringLiteral("logLoss"), view[Metric::Loss].isLog},
        {QStringLiteral("logGradientNorm"), view[Metric::GradientNorm].isLog},
        {QStringLiteral("logScale"), view[Metric::Scale].isLog},
        {QStringLiteral("logDifference"), view[Metric::Difference].isLog}};
}

void Dashboard::setViewSettings(const QJsonObject& settings)
{
    const ViewState before = d->canvas->view();
    ViewState view = before;
    view.smoothing = std::clamp(settings[QStringLiteral("smoothing")].toDouble(view.smoothing), 0.0, maximumSmoothing);
    view.showsDifference = settings[QStringLiteral("difference")].toBool(view.showsDifference);
    view.ignoresOutliers = settings[QStringLiteral("ignoreOutliers")].toBool(view.ignoresOutliers);
    const auto setLog = [&](Metric metric, const QString& key) {
        PanelView& panel = view[metric];
        panel.isLog = settings[key].toBool(panel.isLog);
        if (panel.isLog && panel.range.lower <= 0) {
            panel.range.lower = panel.range.upper > 0 ? panel.range.upper * 1e-3 : 1e-3;
            panel.range.upper = std::max(panel.range.upper, 1.0);
        }
    };
    setLog(Metric::Loss, QStringLiteral("logLoss"));
    setLog(Metric::GradientNorm, QStringLiteral("logGradientNorm"));
    setLog(Metric::Scale, QStringLiteral("logScale"));
    setLog(Metric::Difference, QStringLiteral("logDifference"));
    d->canvas->setView(d->fitted(view));
    d->touch();
    d->announce(before);
}

QString Dashboard::summaryText() const
{
    return d->summary();
}

void Dashboard::exportPng(const QString& file, double scale) const
{
    const PlotCanvas::ExportScope scope(*d->canvas, d->legend());
    QImage image(d->canvas->size() * scale, QImage::Format_RGB32);
    paintCanvas(*d->canvas, image, scale);
    writeFile(file, [&](QIODevice& device) { return image.save(&device, "PNG"); });
}

void Dashboard::exportPdf(const QString& file) const
{
    const PlotCanvas::ExportScope scope(*d->canvas, d->legend());
    writeFile(file, [this](QIODevice& device) {
        QPdfWriter writer(&device);
        const int dpi = d->canvas->logicalDpiX();
        writer.setResolution(dpi);
        writer.setPageSize(
            QPageSize(QSizeF(d->canvas->size()) / dpi, QPageSize::Inch, QString(), QPageSize::ExactMatch));
        writer.setPageMargins(QMarginsF());
        writer.setTitle(tr("Curves"));
        writer.setCreator(QStringLiteral("Mantissa"));
        paintCanvas(*d->canvas, writer, 1);
        return true;
    });
}

void Dashboard::exportSvg(const QString& file) const
{
    const PlotCanvas::ExportScope scope(*d->canvas, d->legend());
    writeFile(file, [this](QIODevice& device) {
        QSvgGenerator generator;
        generator.setOutputDevice(&device);
        generator.setSize(d->canvas->size());
        generator.setViewBox(QRect(QPoint(0, 0), d->canvas->size()));
        generator.setResolution(d->canvas->logicalDpiX());
        generator.setTitle(tr("Curves"));
        paintCanvas(*d->canvas, generator, 1);
        return true;
    });
}

void Dashboard::exportCsv(const QString& file, CsvRange range) const
{
    const AxisRange& steps = d->canvas->view().steps;
    const bool all = range == CsvRange::All;
    const auto first = all ? 0 : static_cast<std::int64_t>(std::ceil(steps.lower));
    const auto last = all ? SeriesPyramid::maximumStep : static_cast<std::int64_t>(std::floor(steps.upper));
    writeFile(file, [&](QIODevice& device) { return writeCurves(device, d->data, first, last, ','); });
}

void Dashboard::setLaneVisible(quint64 key, bool visible)
{
    LaneData* lane = d->data.find(key);
    if (lane == nullptr || lane->isVisible == visible) {
        return;
    }
    lane->isVisible = visible;
    d->touch();
    d->updateTable();
    emit laneVisibilityChanged(key, visible);
    refresh();
}

void Dashboard::isolateLane(quint64 key)
{
    if (d->data.find(key) == nullptr) {
        return;
    }
    bool isAlone = true;
    for (const auto& lane : d->data.lanes()) {
        isAlone = isAlone && lane->isVisible == (lane->curve.key == key);
    }
    for (const quint64 other : laneKeys()) {
        setLaneVisible(other, isAlone || other == key);
    }
}

void Dashboard::highlightLane(std::optional<quint64> key)
{
    if (d->highlighted != key) {
        d->highlighted = key && d->data.find(*key) != nullptr ? key : std::nullopt;
        d->touch();
        refresh();
    }
}

void Dashboard::fit()
{
    ViewState next = d->canvas->view();
    next.followsSteps = true;
    for (PanelView& panel : next.panels) {
        panel.range = panel.follows ? panel.range : noRange;
        panel.follows = true;
    }
    ViewState fitted = d->fitted(next);
    for (const Metric metric : allMetrics) {
        if (std::isnan(fitted[metric].range.lower)) {
            fitted[metric].range = d->canvas->view()[metric].range;
        }
    }
    d->canvas->edit(fitted, tr("Fit"));
}

void Dashboard::fitHeight()
{
    for (const Metric metric : d->canvas->shownMetrics()) {
        d->fitHeight(metric);
    }
}

void Dashboard::zoomIn()
{
    const AxisRange& steps = d->canvas->view().steps;
    const auto cursor = d->canvas->cursorOverlay()->cursor();
    d->canvas->zoomSteps(0.7, cursor ? static_cast<double>(*cursor) : (steps.lower + steps.upper) / 2, 0);
}

void Dashboard::zoomOut()
{
    const AxisRange& steps = d->canvas->view().steps;
    d->canvas->zoomSteps(1 / 0.7, (steps.lower + steps.upper) / 2, 0);
}

void Dashboard::toggleLog()
{
    d->toggleLog(d->canvas->activeMetric());
}

void Dashboard::setDifferenceVisible(bool visible)
{
    ViewState next = d->canvas->view();
    next.showsDifference = visible;
    d->editView(next, visible ? tr("Show difference") : tr("Hide difference"));
}

void Dashboard::toggleDifference()
{
    setDifferenceVisible(!isDifferenceVisible());
}

void Dashboard::setFrameTimeVisible(bool visible)
{
    d->frameLabel->setVisible(visible);
}

void Dashboard::moveCursor(int steps)
{
    const AxisRange& view = d->canvas->view().steps;
    const auto cursor = d->canvas->cursorOverlay()->cursor();
    const std::int64_t stride = std::int64_t {1} << d->canvas->log2ColumnWidth();
    const std::int64_t to = cursor ? *cursor + steps * stride : d->data.lastStep();
    d->placeCursor(std::clamp(
        to, static_cast<std::int64_t>(std::ceil(view.lower)), static_cast<std::int64_t>(std::floor(view.upper))));
}

void Dashboard::hideCursor()
{
    d->placeCursor(std::nullopt);
}

void Dashboard::showStep(qint64 step)
{
    refresh(); // the step may be among those that wait to be taken in
    ViewState next = d->fitted(d->canvas->view()); // a hidden dashboard has not followed its data
    const auto at = static_cast<double>(step);
    if (at < next.steps.lower || at > next.steps.upper) {
        const double width = next.steps.upper - next.steps.lower;
        next.steps.lower = std::max(at - width / 2, 0.0);
        next.steps.upper = next.steps.lower + width;
        next.followsSteps = false;
        d->editView(next, tr("Go to step %1").arg(step));
    }
    d->placeCursor(step);
}

void Dashboard::copyPicture() const
{
    const PlotCanvas::ExportScope scope(*d->canvas, d->legend());
    constexpr double sharp = 2;
    QImage image(d->canvas->size() * sharp, QImage::Format_RGB32);
    paintCanvas(*d->canvas, image, sharp);
    QApplication::clipboard()->setImage(image);
}

void Dashboard::copyData() const
{
    const AxisRange& steps = d->canvas->view().steps;
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    writeCurves(buffer, d->data, static_cast<std::int64_t>(std::ceil(steps.lower)),
        static_cast<std::int64_t>(std::floor(steps.upper)), '\t');
    QApplication::clipboard()->setText(QString::fromUtf8(buffer.data()));
}

void Dashboard::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        d->touch();
    }
    if (event->type() == QEvent::LanguageChange && d) {
        d->retranslate();
    }
}

void Dashboard::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    d->touch();
    refresh();
}

void Dashboard::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    d->touch();
}

void Dashboard::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        copyPicture();
    } else if (event->matches(QKeySequence::Undo)) {
        d->undo->undo();
    } else if (event->matches(QKeySequence::Redo) || event->keyCombination() == (Qt::CTRL | Qt::Key_Y)) {
        d->undo->redo();
    } else if (event->key() == Qt::Key_F && event->modifiers() == Qt::NoModifier) {
        fit();
    } else if (event->key() == Qt::Key_L && event->modifiers() == Qt::NoModifier) {
        toggleLog();
    } else if (event->key() == Qt::Key_D && event->modifiers() == Qt::NoModifier) {
        toggleDifference();
    } else if (event->key() == Qt::Key_Plus) {
        zoomIn();
    } else if (event->key() == Qt::Key_Minus) {
        zoomOut();
    } else {
        QWidget::keyPressEvent(event);
    }
}

} // namespace mantissa
