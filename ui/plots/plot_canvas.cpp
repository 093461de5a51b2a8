#include "ui/plots/plot_canvas.h"

#include "ui/plots/axis_tickers.h"
#include "ui/plots/panel_header.h"

#include <cmath>

namespace mantissa {

namespace {

constexpr std::array<double, metricCount> heightShares {1.5, 1.0, 0.85, 1.0};

QCPRange toRange(const AxisRange& range)
{
    return {range.lower, range.upper};
}

} // namespace

PlotCanvas::PlotCanvas(QWidget* parent)
    : QCustomPlot(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(240, 200);
    setNoAntialiasingOnDrag(false);
    addLayer(QStringLiteral("decor"));
    addLayer(QStringLiteral("cursor"));
    plotLayout()->clear();
    plotLayout()->setRowSpacing(0);
    m_decor = new DecorOverlay(this);
    m_cursor = new CursorOverlay(this);
    for (const Metric metric : allMetrics) {
        buildPanel(metric);
    }
    showPanels();
    applyTheme();
    for (const Metric metric : allMetrics) {
        applyScale(metric);
    }
    applyRanges();
    connect(this, &QCustomPlot::beforeReplot, this, [this] { m_clock.start(); });
    connect(this, &QCustomPlot::afterLayout, this, &PlotCanvas::placeHeaders);
    connect(this, &QCustomPlot::afterReplot, this, [this] {
        m_replotMs = static_cast<double>(m_clock.nsecsElapsed()) * 1e-6;
        emit replotted(m_replotMs);
    });
}

PlotCanvas::~PlotCanvas()
{
    // QCustomPlot deletes what is in its layout; a hidden plot is not.
    for (Panel& hidden : m_panels) {
        if (!hidden.isShown) {
            removePlottable(hidden.curves);
            delete hidden.rect;
        }
    }
}

void PlotCanvas::buildPanel(Metric metric)
{
    Panel& built = panel(metric);
    built.rect = new QCPAxisRect(this, true);
    built.rect->setAutoMargins(QCP::msNone);
    built.rect->setMinimumSize(40, 24);
    plotLayout()->addElement(static_cast<int>(metric), 0, built.rect);
    for (QCPAxis* axis : built.rect->axes()) {
        axis->setLayer(QStringLiteral("axes"));
        axis->grid()->setLayer(QStringLiteral("grid"));
        axis->grid()->setZeroLinePen(Qt::NoPen);
        axis->setSubTicks(false);
    }
    stepAxis(metric)->setTicker(QSharedPointer<QCPAxisTicker>(new ValueTicker(true)));
    built.curves = new CurvePlottable(stepAxis(metric), valueAxis(metric));
    built.header = new PanelHeader(title(metric), metric == Metric::Loss, this);
}

void PlotCanvas::showPanels()
{
    for (const Metric metric : allMetrics) {
        Panel& shown = panel(metric);
        if (shown.rect->layout() != nullptr) {
            plotLayout()->take(shown.rect);
        }
        shown.isShown = metric != Metric::Difference || m_view.showsDifference;
        shown.rect->setVisible(shown.isShown);
        shown.header->setVisible(shown.isShown);
    }
    plotLayout()->simplify();
    int row = 0;
    for (const Metric metric : shownMetrics()) {
        plotLayout()->addElement(row, 0, panel(metric).rect);
        plotLayout()->setRowStretchFactor(row, heightShares[static_cast<std::size_t>(metric)]);
        ++row;
    }
    applyMargins();
}

void PlotCanvas::applyTheme()
{
    m_colors = plotColors(palette());
    setBackground(QBrush(m_colors.surround));
    for (const Metric metric : allMetrics) {
        panel(metric).rect->setBackground(QBrush(m_colors.background));
        panel(metric).curves->setBackground(m_colors.background);
        applyAxisStyle(metric);
    }
    applyMargins();
}

void PlotCanvas::applyAxisStyle(Metric metric)
{
    const QFont numbers = tabularFont(font());
    for (QCPAxis* axis : {stepAxis(metric), valueAxis(metric)}) {
        axis->setBasePen(QPen(m_colors.axis, 1));
        axis->setTickPen(QPen(m_colors.axis, 1));
        axis->setTickLength(0, 4);
        axis->setTickLabelColor(m_colors.faintText);
        axis->setTickLabelFont(numbers);
        axis->setTickLabelPadding(3);
        axis->grid()->setPen(QPen(m_colors.grid, 1, Qt::SolidLine));
    }
}

void PlotCanvas::applyMargins()
{
    const QFontMetrics metrics(tabularFont(font()));
    const int left = metrics.horizontalAdvance(QStringLiteral("-1.25e-07")) + 14;
    const std::vector<Metric> shown = shownMetrics();
    for (const Metric metric : shown) {
        const int top = std::max(panel(metric).header->sizeHint().height(), metrics.height() + 4) + 4;
        const bool lowest = metric == shown.back();
        stepAxis(metric)->setTickLabels(lowest);
        panel(metric).rect->setMargins(QMargins(left, top, 14, lowest ? metrics.height() + 10 : 4));
    }
}

void PlotCanvas::applyScale(Metric metric)
{
    QCPAxis* axis = valueAxis(metric);
    const bool log = m_view[metric].isLog;
    axis->setScaleType(log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    QSharedPointer<QCPAxisTicker> ticker(
        log ? static_cast<QCPAxisTicker*>(new PowerTicker(metric == Metric::Scale ? 2 : 10)) : new ValueTicker());
    ticker->setTickCount(4);
    axis->setTicker(ticker);
    panel(metric).header->setLog(log);
}

void PlotCanvas::applyRanges()
{
    for (const Metric metric : allMetrics) {
        stepAxis(metric)->setRange(toRange(m_view.steps));
        valueAxis(metric)->setRange(toRange(m_view[metric].range));
        panel(metric).header->setFollows(m_view.follows());
    }
}

void PlotCanvas::setView(const ViewState& view)
{
    if (view == m_view) {
        return;
    }
    const ViewState before = m_view;
    m_view = view;
    for (const Metric metric : allMetrics) {
        if (before[metric].isLog != view[metric].isLog) {
            applyScale(metric);
        }
        panel(metric).header->setSmoothing(view.smoothing);
        panel(metric).header->setDifference(view.showsDifference);
    }
    if (before.showsDifference != view.showsDifference) {
        showPanels();
    }
    applyRanges();
    requestReplot();
}

void PlotCanvas::edit(const ViewState& view, const QString& what, int kind)
{
    const ViewState before = m_view;
    setView(view);
    if (!(before == m_view)) {
        emit viewEdited(before, what, kind);
    }
}

void PlotCanvas::setCurves(Metric metric, std::vector<Curve> curves)
{
    panel(metric).curves->setCurves(std::move(curves));
}

void PlotCanvas::setNote(Metric metric, const QString& note)
{
    panel(metric).note = note;
}

QString PlotCanvas::title(Metric metric) const
{
    switch (metric) {
    case Metric::Loss:
        return tr("Loss");
    case Metric::GradientNorm:
        return tr("Gradient norm");
    case Metric::Scale:
        return tr("Scale");
    case Metric::Difference:
        return tr("Difference");
    }
    return {};
}

QCPAxis* PlotCanvas::stepAxis(Metric metric) const
{
    return panel(metric).rect->axis(QCPAxis::atBottom);
}

QCPAxis* PlotCanvas::valueAxis(Metric metric) const
{
    return panel(metric).rect->axis(QCPAxis::atLeft);
}

std::vector<Metric> PlotCanvas::shownMetrics() const
{
    std::vector<Metric> shown;
    for (const Metric metric : allMetrics) {
        if (panel(metric).isShown) {
            shown.push_back(metric);
        }
    }
    return shown;
}

bool PlotCanvas::isShown(Metric metric) const
{
    return panel(metric).isShown;
}

QRect PlotCanvas::plotArea(Metric metric) const
{
    return panel(metric).rect->rect();
}

QRect PlotCanvas::titleRect(Metric metric) const
{
    const Panel& titled = panel(metric);
    const QRect area = titled.rect->rect();
    const QRect outer = titled.rect->outerRect();
    const int controls = titled.header->isVisible() ? titled.header->width() + 8 : 0;
    return {area.left(), outer.top(), std::max(0, area.width() - controls), area.top() - outer.top()};
}

void PlotCanvas::placeHeaders()
{
    for (const Metric metric : shownMetrics()) {
        const Panel& placed = panel(metric);
        const QSize size = placed.header->sizeHint();
        const QRect outer = placed.rect->outerRect();
        const int space = placed.rect->rect().top() - outer.top();
        placed.header->setGeometry(placed.rect->rect().right() + 1 - size.width(),
            outer.top() + (space - size.height()) / 2, size.width(), size.height());
    }
}

double PlotCanvas::stepToPixel(std::int64_t step) const
{
    return stepAxis(Metric::Loss)->coordToPixel(static_cast<double>(step));
}

double PlotCanvas::pixelToStep(double x) const
{
    return stepAxis(Metric::Loss)->pixelToCoord(x);
}

double PlotCanvas::valueToPixel(Metric metric, double value) const
{
    return panel(metric).curves->valueToPixel(value);
}

int PlotCanvas::log2ColumnWidth() const
{
    return panel(Metric::Loss).curves->log2ColumnWidth();
}

std::optional<Metric> PlotCanvas::metricAt(const QPointF& position) const
{
    for (const Metric metric : shownMetrics()) {
        if (plotArea(metric).contains(position.toPoint())) {
            return metric;
        }
    }
    return std::nullopt;
}

std::optional<Metric> PlotCanvas::metricNear(const QPointF& position) const
{
    for (const Metric metric : shownMetrics()) {
        if (panel(metric).rect->outerRect().contains(position.toPoint())) {
            return metric;
        }
    }
    return std::nullopt;
}

void PlotCanvas::requestReplot()
{
    // A hidden plot costs as much to draw as a visible one.
    if (isVisible()) {
        replot(QCustomPlot::rpQueuedReplot);
    }
}

void PlotCanvas::redrawCursor()
{
    // A layer of its own spares redrawing the curves while the cursor moves, and costs clearing and blending a picture
    // of the whole plot for every frame while there is none.
    QCPLayer* cursor = layer(QStringLiteral("cursor"));
    const QCPLayer::LayerMode mode = m_cursor->isEmpty() ? QCPLayer::lmLogical : QCPLayer::lmBuffered;
    if (mode != cursor->mode()) {
        cursor->setMode(mode);
        requestReplot();
    } else if (isVisible() && mode == QCPLayer::lmBuffered) {
        cursor->replot();
    }
}

void PlotCanvas::resizeEvent(QResizeEvent* event)
{
    QCustomPlot::resizeEvent(event);
    placeHeaders();
}

void PlotCanvas::changeEvent(QEvent* event)
{
    QCustomPlot::changeEvent(event);
    switch (event->type()) {
    case QEvent::PaletteChange:
    case QEvent::FontChange:
    case QEvent::StyleChange:
        applyTheme();
        requestReplot();
        break;
    case QEvent::LanguageChange:
        for (const Metric metric : allMetrics) {
            panel(metric).header->setPlotName(title(metric));
        }
        requestReplot();
        break;
    default:
        break;
    }
}

PlotCanvas::ExportScope::ExportScope(PlotCanvas& canvas, std::vector<LegendRow::Entry> entries)
    : m_canvas(canvas)
    , m_legend(new LegendRow(&canvas, std::move(entries), canvas.font(), canvas.colors().text))
{
    canvas.cursorOverlay()->setVisible(false);
    canvas.plotLayout()->insertRow(0);
    canvas.plotLayout()->addElement(0, 0, m_legend);
    canvas.plotLayout()->setRowStretchFactor(0, 0.001);
    for (const Metric metric : canvas.shownMetrics()) {
        canvas.header(metric)->hide();
    }
}

PlotCanvas::ExportScope::~ExportScope()
{
    m_canvas.plotLayout()->remove(m_legend);
    m_canvas.cursorOverlay()->setVisible(true);
    m_canvas.showPanels();
    m_canvas.requestReplot();
}

} // namespace mantissa
