#include "ui/gradients/gradients_panel.h"

#include "engine/core/error.h"
#include "engine/probe/corridor.h"
#include "ui/gradients/scale_table.h"
#include "ui/graph/op_map_words.h"
#include "ui/language/language.h"
#include "ui/models/run_cells.h"
#include "ui/plots/curve_export.h"
#include "ui/plots/picture_file.h"
#include "ui/style/number_format.h"
#include "ui/style/run_banner.h"
#include "ui/style/theme.h"

#include <QBoxLayout>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QSplitter>
#include <QToolButton>

#include <cmath>

namespace mantissa {

namespace {

constexpr int lowestExponent = -10;
constexpr int highestExponent = 40;

int exponentOf(double scale)
{
    return static_cast<int>(std::lround(std::log2(scale)));
}

} // namespace

GradientsPanel::GradientsPanel(SessionController* controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_banner(new RunBanner)
    , m_role(new QComboBox)
    , m_tensor(new QComboBox)
    , m_interval(new QSpinBox)
    , m_now(new QPushButton(tr("Look now")))
    , m_counts(new QCheckBox(tr("Count every step")))
    , m_export(new QToolButton)
    , m_plot(new HistogramPlot)
    , m_scale(new QSlider(Qt::Horizontal))
    , m_scaleText(new QLabel)
    , m_apply(new QPushButton(tr("Apply")))
    , m_forecast(new QLabel)
    , m_steps(new QSlider(Qt::Horizontal))
    , m_stepText(new QLabel)
    , m_table(new ScaleTable(controller))
{
    for (const auto& [name, role] :
        {std::pair(tr("Gradients"), TensorRole::Scaled), std::pair(tr("Gradients, unscaled"), TensorRole::Unscaled),
            std::pair(tr("Gradients of activations"), TensorRole::ActivationGradient),
            std::pair(tr("Activations"), TensorRole::Activation), std::pair(tr("Weights"), TensorRole::Weight),
            std::pair(tr("Updates"), TensorRole::Update)}) {
        m_role->addItem(name, static_cast<int>(role));
    }
    m_role->setAccessibleName(tr("Tensors shown"));
    m_tensor->setAccessibleName(tr("Tensor"));
    for (QComboBox* combo : {m_role, m_tensor}) {
        combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        combo->setMinimumContentsLength(8);
    }
    m_interval->setRange(0, 1'000'000);
    m_interval->setSpecialValueText(tr("never"));
    m_interval->setValue(static_cast<int>(m_controller->sampling().every));
    m_interval->setKeyboardTracking(false);
    m_interval->setAccessibleName(tr("Steps between those that are looked at"));
    m_interval->setToolTip(tr("Every so many steps all tensors of every lane are looked at, ever less often in a long "
                              "run; 0: never, which costs nothing. What a lane computes does not change by it"));
    m_counts->setChecked(m_controller->sampling().countsEveryStep);
    m_counts->setToolTip(
        tr("In every step it is counted what rounding did: which share of the gradient flushed to zero, "
           "became subnormal, overflowed, and where a number first was not finite. Takes a few percent "
           "of a step at most. Without it only the steps that are looked at know"));
    m_now->setToolTip(tr("Looks at the next step; trains it, if the lanes rest"));
    m_export->setText(tr("Export"));
    m_export->setAutoRaise(true);
    m_export->setToolTip(tr("Saves the histogram as PNG, PDF or CSV"));
    m_scale->setRange(lowestExponent, highestExponent);
    m_scale->setPageStep(4);
    m_scale->setAccessibleName(tr("Scale to try, as a power of two"));
    m_scale->setToolTip(tr("Drag, or drag the outline in the plot: nothing changes before Apply"));
    m_scaleText->setFont(tabularFont(font()));
    m_forecast->setWordWrap(true);
    m_forecast->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_forecast->setAccessibleName(tr("What the scale does"));
    m_forecast->setMinimumHeight(2 * fontMetrics().lineSpacing());
    m_forecast->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_steps->setAccessibleName(tr("Step shown"));
    m_steps->setToolTip(tr("The steps that were looked at; at its right end it follows the newest"));
    m_stepText->setFont(tabularFont(font()));

    auto* top = new QHBoxLayout;
    top->addWidget(m_role, 1);
    top->addWidget(m_tensor, 1);
    top->addWidget(new QLabel(tr("Look every")));
    top->addWidget(m_interval);
    top->addWidget(new QLabel(tr("steps")));
    top->addWidget(m_now);
    top->addWidget(m_export);
    auto* steps = new QHBoxLayout;
    steps->addWidget(new QLabel(tr("Step")));
    steps->addWidget(m_steps, 1);
    steps->addWidget(m_stepText);
    steps->addWidget(m_counts);
    auto* scale = new QHBoxLayout;
    scale->addWidget(new QLabel(tr("Scale")));
    scale->addWidget(m_scale, 1);
    scale->addWidget(m_scaleText);
    scale->addWidget(m_apply);
    scale->addWidget(m_table->button());
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(m_plot, 1);
    column->addLayout(scale);
    column->addWidget(m_forecast);
    column->addLayout(steps);
    auto* parts = new QSplitter;
    parts->addWidget(left);
    parts->addWidget(m_table);
    parts->setStretchFactor(0, 3);
    parts->setStretchFactor(1, 1);
    parts->setChildrenCollapsible(false);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(8, 4, 8, 4);
    all->setSpacing(4);
    all->addWidget(m_banner);
    all->addLayout(top);
    all->addWidget(parts, 1);

    connect(m_banner, &RunBanner::closed, this, &GradientsPanel::closeStored);
    connect(m_role, &QComboBox::activated, this, [this] { redraw(); });
    connect(m_tensor, &QComboBox::activated, this, [this] { redraw(); });
    connect(m_interval, &QSpinBox::valueChanged, this, [this](int every) {
        SamplingPlan plan = m_controller->sampling();
        plan.every = every;
        m_controller->setSampling(plan);
        follow();
    });
    connect(m_counts, &QCheckBox::toggled, this, [this](bool counts) {
        SamplingPlan plan = m_controller->sampling();
        plan.countsEveryStep = counts;
        m_controller->setSampling(plan);
    });
    connect(m_now, &QPushButton::clicked, m_controller, &SessionController::sampleNow);
    connect(m_export, &QToolButton::clicked, this, &GradientsPanel::showExportDialog);
    connect(m_plot, &HistogramPlot::exponentDragged, this, &GradientsPanel::tryExponent);
    connect(m_table, &ScaleTable::exponentChosen, this, &GradientsPanel::tryExponent);
    connect(m_scale, &QSlider::valueChanged, this, &GradientsPanel::tryExponent);
    connect(m_apply, &QPushButton::clicked, this, &GradientsPanel::applyScale);
    connect(m_steps, &QSlider::valueChanged, this, [this](int index) {
        m_followsNewest = index == m_steps->maximum();
        follow();
    });
    connect(m_controller, &SessionController::sampled, this, &GradientsPanel::follow);
    // Sixty times a second: what the text says follows from the sample, and needs no status.
    connect(m_controller, &SessionController::statusChanged, this, [this] { m_drawn ? updateApply() : updateScale(); });
    connect(m_controller, &SessionController::sessionReplaced, this, [this] {
        m_tried.reset();
        closeStored();
    });
    follow();
    whenLanguageChanges(this, [this] {
        redraw();
        updateApply();
    });
}

void GradientsPanel::setLane(std::optional<std::uint32_t> lane, const QColor& color)
{
    if (lane == m_lane && color == m_color) {
        return;
    }
    const bool isOther = lane != m_lane;
    m_lane = lane;
    m_color = color;
    if (isOther) {
        m_tried.reset();
        closeStored();
    } else {
        redraw();
    }
}

void GradientsPanel::showStored(const StoredLookPtr& stored, const QColor& color)
{
    m_stored = stored;
    m_storedColor = color;
    m_banner->showRun(name());
    m_table->setLane({});
    m_tried.reset();
    m_followsNewest = true;
    redraw();
}

void GradientsPanel::closeStored()
{
    m_stored.reset();
    m_banner->hide();
    m_table->setLane(m_lane);
    m_followsNewest = true;
    redraw();
}

const std::vector<SamplePtr>& GradientsPanel::samples() const
{
    static const std::vector<SamplePtr> none;
    return m_stored ? m_stored->samples : m_lane ? m_controller->samples(*m_lane) : none;
}

const LaneStatus* GradientsPanel::laneStatus() const
{
    return m_lane && !m_stored ? m_controller->laneStatus(*m_lane) : nullptr;
}

QString GradientsPanel::name() const
{
    return m_stored ? runName(m_stored->info) : m_controller->laneName(*m_lane);
}

void GradientsPanel::showTensor(TensorRole role, const QString& tensor)
{
    m_role->setCurrentIndex(m_role->findData(static_cast<int>(role)));
    if (const SamplePtr sample = shown()) {
        fillTensors(*sample);
    }
    m_tensor->setCurrentIndex(std::max(0, m_tensor->findData(tensor)));
    redraw();
}

void GradientsPanel::showStep(std::int64_t step)
{
    const std::vector<SamplePtr>& samples = this->samples();
    const auto at = std::find(samples.begin(), samples.end(), sampleAt(samples, step));
    if (at != samples.end()) {
        m_steps->setValue(static_cast<int>(at - samples.begin()));
    }
}

SamplePtr GradientsPanel::shown() const
{
    const std::vector<SamplePtr>& samples = this->samples();
    const auto index = static_cast<std::size_t>(std::max(0, m_steps->value()));
    return samples.empty() ? nullptr : m_followsNewest || index >= samples.size() ? samples.back() : samples[index];
}

void GradientsPanel::redraw()
{
    m_drawn.reset();
    follow();
}

/// Nothing is drawn that nobody sees.
void GradientsPanel::follow()
{
    if (!isVisible()) {
        return;
    }
    const std::size_t count = samples().size();
    {
        const QSignalBlocker blocker(m_steps);
        m_steps->setRange(0, std::max(0, static_cast<int>(count) - 1));
        m_steps->setEnabled(count > 1);
        if (m_followsNewest) {
            m_steps->setValue(m_steps->maximum());
        }
    }
    const SamplePtr sample = shown();
    if (!sample) {
        m_drawn.reset();
        m_stepText->clear();
        m_forecast->clear();
        m_plot->showText(!m_lane ? tr("No lane is selected.")
                : m_controller->sampling().every == 0
                ? tr("No step is being looked at. \u201CLook every\u201D says how often; \u201CLook now\u201D looks "
                     "at the next one.")
                : tr("Space trains the lanes: every %1 steps their tensors are looked at, and come here.")
                      .arg(formatCount(m_controller->sampling().every)));
        updateScale();
        return;
    }
    if (sample != m_drawn) {
        m_drawn = sample;
        update(sample);
    }
}

void GradientsPanel::fillTensors(const StepSample& sample)
{
    const auto role = static_cast<TensorRole>(m_role->currentData().toInt());
    QStringList names;
    for (const TensorSample& tensor : sample.tensors) {
        if (tensor.role == role) {
            names << QString::fromStdString(tensor.tensor);
        }
    }
    QStringList present;
    for (int i = 1; i < m_tensor->count(); ++i) {
        present << m_tensor->itemText(i);
    }
    if (names != present || m_tensor->count() == 0) {
        const QString chosen = m_tensor->currentData().toString();
        m_tensor->clear();
        m_tensor->addItem(tr("Whole net"), QString());
        for (const QString& name : names) {
            m_tensor->addItem(name, name);
        }
        m_tensor->setCurrentIndex(std::max(0, m_tensor->findData(chosen)));
    }
}

/// Of the chosen tensor, or of all together.
std::optional<TensorSample> GradientsPanel::sumOf(const StepSample& sample, TensorRole role) const
{
    const std::string chosen = m_tensor->currentData().toString().toStdString();
    std::optional<TensorSample> sum;
    for (const TensorSample& tensor : sample.tensors) {
        if (tensor.role == role && (chosen.empty() || tensor.tensor == chosen)) {
            if (sum) {
                merge(*sum, tensor);
            } else {
                sum = tensor;
            }
        }
    }
    return sum;
}

QString GradientsPanel::fidelityText(const StepSample& sample) const
{
    const TensorSample* worst = nullptr;
    const std::string chosen = m_tensor->currentData().toString().toStdString();
    for (const TensorSample& tensor : sample.tensors) {
        const bool isWanted = tensor.role == TensorRole::Scaled && (chosen.empty() || tensor.tensor == chosen);
        if (isWanted && !std::isnan(tensor.relativeError)
            && (worst == nullptr || tensor.relativeError > worst->relativeError)) {
            worst = &tensor;
        }
    }
    if (worst == nullptr) {
        return {};
    }
    const QString cosine
        = std::isnan(worst->cosine) ? tr("all of it is lost") : tr("cosine %1").arg(formatValue(worst->cosine, 6));
    return tr("Against FP32's gradient %1 is off by %2 (%3)%4.")
        .arg(QString::fromStdString(worst->tensor), exactPercent(worst->relativeError), cosine,
            chosen.empty() ? tr(", the most of all") : QString());
}

void GradientsPanel::update(const SamplePtr& sample)
{
    fillTensors(*sample);
    const auto role = static_cast<TensorRole>(m_role->currentData().toInt());
    m_stepText->setText(tr("%1%2").arg(formatCount(sample->step), m_followsNewest ? tr(" (newest)") : QString()));
    m_stepText->setToolTip(tr("Looking at this step took %1 ms").arg(formatValue(sample->milliseconds, 3)));
    const std::optional<TensorSample> held = sumOf(*sample, role);
    if (!held) {
        m_plot->showText(tr("This lane has none of these tensors."));
        updateScale();
        return;
    }
    HistogramContent content;
    content.held = *held;
    content.heldName
        = tr("%1: %2, as %3 holds them").arg(name(), m_role->currentText().toLower(), formatLabel(held->format));
    content.color = m_stored ? m_storedColor : m_color;
    content.axisTitle = role == TensorRole::Scaled || role == TensorRole::ActivationGradient
        ? tr("magnitude, times the scale 2^%1").arg(exponentOf(sample->scale))
        : tr("magnitude");
    // A lane that rounds nothing shows what FP16 would make of it.
    const bool isWhatIf = sample->lower == DType::Float32;
    content.format = isWhatIf ? DType::Float16 : sample->lower;
    if (role == TensorRole::Scaled) {
        content.reference = isWhatIf ? held : sumOf(*sample, TensorRole::Reference);
        content.isDraggable = content.reference.has_value();
    }
    content.exponent = m_tried.value_or(exponentOf(sample->scale));
    content.referenceName = tr("the gradient in FP32, times 2^%1: drag it").arg(content.exponent);
    m_plot->show(std::move(content));
    updateScale();
}

void GradientsPanel::tryExponent(int exponent)
{
    m_tried = std::clamp(exponent, lowestExponent, highestExponent);
    if (m_drawn) {
        update(m_drawn);
    } else {
        updateScale();
    }
}

QString GradientsPanel::whyNotApply() const
{
    const LaneStatus* lane = laneStatus();
    if (m_stored) {
        return tr("A stored run: its scale is what it was. Re-run or resume it under Runs to try another");
    }
    if (lane == nullptr) {
        return tr("No lane is selected");
    }
    if (m_drawn && m_drawn->lower == DType::Float32) {
        return tr("This lane rounds nothing to 16 bits: no scale changes it");
    }
    if (lane->status != RunStatus::Running) {
        return tr("The lane has ended: reset or duplicate it to go on with another scale");
    }
    if (!m_tried || std::exp2(*m_tried) == lane->scale) {
        return tr("The lane has this scale");
    }
    return {};
}

bool GradientsPanel::canTry() const
{
    return m_plot->content() && m_plot->content()->reference;
}

void GradientsPanel::updateApply()
{
    if (!isVisible()) {
        return;
    }
    const LaneStatus* lane = laneStatus();
    const QString whyNot = whyNotApply();
    m_apply->setEnabled(canTry() && whyNot.isEmpty());
    const bool hasScaler = lane != nullptr && lane->config->scaler && lane->config->scaler->family != "none";
    m_apply->setToolTip(!whyNot.isEmpty() ? whyNot
            : hasScaler                   ? tr("Sets the lane's scale before its next step")
                                          : tr("Gives the lane a fixed scaler with this scale, before its next step"));
}

void GradientsPanel::updateScale()
{
    if (!isVisible()) {
        return;
    }
    const LaneStatus* lane = laneStatus();
    const double present = lane != nullptr ? lane->scale : 1;
    const int exponent = m_tried.value_or(m_drawn ? exponentOf(m_drawn->scale) : exponentOf(present));
    {
        const QSignalBlocker blocker(m_scale);
        m_scale->setValue(exponent);
    }
    m_scale->setEnabled(canTry());
    m_scaleText->setText(formatScale(std::exp2(exponent)));
    updateApply();
    if (!canTry()) {
        m_forecast->clear();
        return;
    }
    const TensorSample& reference = *m_plot->content()->reference;
    const bool isWhatIf = m_drawn->lower == DType::Float32;
    const DType format = isWhatIf ? DType::Float16 : m_drawn->lower;
    const RoundingForecast then = forecast(reference, exponent, format);
    const Corridor corridor = corridorOf(reference, format, harmlessFlushedShare);
    const QString place = corridor.floor == 0 && std::isinf(corridor.ceiling) ? tr("Any scale will do.")
        : !corridor.exists()
        ? tr("No scale will do: what keeps the small ones from flushing makes the large ones overflow.")
        : corridor.floor == 0
        ? tr("Scales up to %1 will do.").arg(formatPowerOfTwo(std::exp2(std::ceil(std::log2(corridor.ceiling)) - 1)))
        : tr("Scales from %1 to %2 will do.")
              .arg(formatPowerOfTwo(corridor.floor),
                  formatPowerOfTwo(std::exp2(std::ceil(std::log2(corridor.ceiling)) - 1)));
    const QString whatIf = isWhatIf ? tr("This lane is FP32 and loses nothing. If it were FP16: ") : QString();
    m_forecast->setText(whatIf
        + tr("At %1 rounding to %2 flushes %3 of the gradient, makes %4 subnormal, and %5. %6 %7")
              .arg(formatPowerOfTwo(std::exp2(exponent)), formatLabel(format), exactPercent(then.flushed),
                  exactPercent(then.subnormal),
                  then.overflows ? tr("overflows: the step is skipped") : tr("overflows nowhere"), place,
                  fidelityText(*m_drawn)));
    m_plot->setAccessibleDescription(m_forecast->text());
    m_forecast->setToolTip(tr("From the gradient that FP32 has for the same weights and batch. It tells of the last "
                              "rounding alone: what layers above have lost is not in it. \u201CTry every scale\u201D "
                              "computes the step. A scale will do if at most 1 % is flushed and nothing overflows."));
}

void GradientsPanel::applyScale()
{
    if (!m_tried || !whyNotApply().isEmpty()) {
        return;
    }
    const LaneStatus* lane = m_controller->laneStatus(*m_lane);
    const bool hasScaler = lane->config->scaler && lane->config->scaler->family != "none";
    if (!hasScaler) {
        m_controller->set(*m_lane, "scaler.family", "fixed");
    }
    m_controller->set(*m_lane, "scaler.scale", std::exp2(*m_tried));
    emit notice(tr("%1: scale %2 from the next step on.")
                    .arg(m_controller->laneName(*m_lane), formatScale(std::exp2(*m_tried))));
    m_tried.reset();
    m_followsNewest = true;
    redraw();
    if (!m_controller->isRunning()) {
        m_controller->sampleNow(); // a person who turned the knob wants to see what it does
    }
}

QString GradientsPanel::forecastText() const
{
    return m_forecast->text();
}

void GradientsPanel::exportTo(const QString& file) const
{
    if (!m_plot->content()) {
        throw Error(ErrorCode::InvalidArgument, "There is no histogram to export yet.");
    }
    for (const char* suffix : {".png", ".pdf"}) {
        if (file.endsWith(QLatin1String(suffix), Qt::CaseInsensitive)) {
            const QSize size = m_plot->size();
            writePicture(file, size, m_plot->content()->heldName,
                [this, size](QPainter& painter) { m_plot->paint(painter, size); });
            return;
        }
    }
    writeFile(file, [&](QIODevice& device) {
        QByteArray csv("step,scale,role,tensor,exponent,elements\n");
        const auto write = [&](const TensorSample& sample, TensorRole role) {
            for (std::size_t i = 0; i < sample.exponents.size(); ++i) {
                csv += QStringLiteral("%1,%2,%3,\"%4\",%5,%6\n")
                           .arg(m_drawn->step)
                           .arg(formatExact(m_drawn->scale), QString::fromStdString(std::string(nameOf(role))),
                               m_tensor->currentIndex() == 0 ? QStringLiteral("all") : m_tensor->currentText())
                           .arg(sample.firstExponent + static_cast<int>(i))
                           .arg(sample.exponents[i])
                           .toUtf8();
            }
        };
        write(m_plot->content()->held, static_cast<TensorRole>(m_role->currentData().toInt()));
        if (m_plot->content()->reference) {
            write(*m_plot->content()->reference, TensorRole::Reference);
        }
        return device.write(csv) == csv.size();
    });
}

void GradientsPanel::showExportDialog()
{
    if (!m_plot->content()) {
        emit notice(tr("There is no histogram to export yet."));
        return;
    }
    const QString done = saveByDialog(this, QStringLiteral("gradients.png"),
        tr("Picture (*.png);;PDF document (*.pdf);;Numbers (*.csv)"), [this](const QString& file) { exportTo(file); });
    if (!done.isEmpty()) {
        emit notice(done);
    }
}

void GradientsPanel::copyPicture() const
{
    QGuiApplication::clipboard()->setPixmap(m_plot->grab());
}

void GradientsPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    redraw();
}

void GradientsPanel::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        copyPicture();
    } else if (event->key() == Qt::Key_Escape && m_tried) {
        m_tried.reset();
        redraw();
    } else {
        QWidget::keyPressEvent(event);
    }
}

} // namespace mantissa
