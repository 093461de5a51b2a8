#include "ui/views/scaler_lab.h"

#include "ui/language/language.h"
#include "ui/plots/scale_path_plot.h"
#include "ui/session/run_loader.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/views/quiet_wheel.h"
#include "ui/views/scaler_form.h"
#include "ui/views/trace_strip.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace mantissa {

namespace {

constexpr int mostSteps = 2000;
constexpr int mostRowsShown = 6;

struct Preset
{
    const char* name;
    const char* pattern; ///< f, n as on the command line; repeated until it is long enough
    int steps;
};

constexpr std::array presets {
    Preset {QT_TRANSLATE_NOOP("mantissa::ScalerLab", "The scale starts too high"),
        "nnnnffffffffffffffffffffffffffffffffffff", 40},
    Preset {QT_TRANSLATE_NOOP("mantissa::ScalerLab", "One overflow"), "ffffffffffnfffffffffffffffffffffffffffff", 40},
    Preset {QT_TRANSLATE_NOOP("mantissa::ScalerLab", "Two in a row"), "ffffffffffnnffffffffffffffffffffffffffff", 40},
    Preset {QT_TRANSLATE_NOOP("mantissa::ScalerLab", "Every fourth step"), "fffn", 40},
    Preset {QT_TRANSLATE_NOOP("mantissa::ScalerLab", "Overflow at any scale"),
        "ffffffffffnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn", 40},
    Preset {QT_TRANSLATE_NOOP("mantissa::ScalerLab", "No overflow"), "f", 40},
};

std::vector<bool> stepsOf(const Preset& preset)
{
    const std::string_view pattern = preset.pattern;
    std::vector<bool> steps;
    for (int i = 0; i < preset.steps; ++i) {
        steps.push_back(pattern[static_cast<std::size_t>(i) % pattern.size()] == 'n');
    }
    return steps;
}

bool isShownAtFirst(std::string_view family)
{
    return family == "pytorch" || family == "mxnet" || family == "deepspeed";
}

QString titleOf(const ScalerFamily& family)
{
    return scalerTitle(std::string(family.name));
}

QLabel* labelFor(const QString& text, QWidget* control)
{
    auto* label = new QLabel(text);
    label->setBuddy(control);
    return label;
}

} // namespace

ScalerLab::ScalerLab(const std::filesystem::path& database, QWidget* parent)
    : QDialog(parent)
    , m_archive(new RunArchive(database, this))
    , m_loader(new RunLoader(database, this))
{
    setWindowTitle(tr("Scaler lab"));
    auto* row = new QHBoxLayout(this);
    auto* parts = new QSplitter;
    row->addWidget(parts);
    parts->addWidget(makeFamilies());
    auto* right = new QWidget;
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(makeSource());
    m_plot = new ScalePathPlot;
    column->addWidget(m_plot, 1);
    column->addWidget(makeResults());
    parts->addWidget(right);
    parts->setStretchFactor(1, 1);
    parts->setChildrenCollapsible(false);

    connect(m_archive, &RunArchive::loaded, this, &ScalerLab::listRuns);
    connect(m_archive, &RunArchive::loadFailed, m_runNote, &QLabel::setText);
    connect(m_loader, &RunLoader::failed, m_runNote, &QLabel::setText);
    connect(m_loader, &RunLoader::gradientsLoaded, this,
        [this](RunId run, const std::shared_ptr<const std::vector<PlayStep>>& steps) {
            if (run == m_run) {
                m_runSteps = steps;
                replay();
            }
        });
    chooseFamily(m_families->currentRow());
    m_strip->setSteps(stepsOf(presets[0]));
    if (!database.empty()) {
        m_archive->reload();
    }
    resize(fontMetrics().averageCharWidth() * 150, fontMetrics().height() * 42);
    whenLanguageChanges(this, [this] {
        chooseFamily(m_families->currentRow());
        replay();
    });
}

QColor ScalerLab::colorOf(int family) const
{
    return laneColor(family, isDark(palette()));
}

QWidget* ScalerLab::makeFamilies()
{
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    m_families = new QListWidget;
    m_families->setAccessibleName(tr("Families"));
    m_families->setToolTip(tr("Tick the families to compare; the one selected shows its parameters below."));
    for (const ScalerFamily* family : scalerFamilyTable()) {
        const int index = m_families->count();
        const std::string name(family->name);
        m_configs[name].family = name;
        auto* item = new QListWidgetItem(titleOf(*family), m_families);
        item->setIcon(laneSwatch(colorOf(index), laneStyle(index), true, QSize(20, 16), devicePixelRatioF()));
        item->setFlags(Qt::ItemIsUserCheckable | Qt::ItemIsEnabled | Qt::ItemIsSelectable);
        item->setCheckState(isShownAtFirst(family->name) ? Qt::Checked : Qt::Unchecked);
        item->setToolTip(scalerSummary(name));
        if (family->name == ScalerConfig {}.family) {
            m_families->setCurrentItem(item);
        }
    }
    m_familyTitle = new QLabel;
    m_familyTitle->setWordWrap(true);
    m_form = new ScalerForm(ScalerForm::FirstScale::Shown);
    m_refusal = new QLabel;
    m_refusal->setWordWrap(true);
    m_refusal->hide();
    column->addWidget(labelFor(tr("&Families"), m_families));
    column->addWidget(m_families, 1);
    column->addWidget(m_familyTitle);
    column->addWidget(m_form);
    column->addWidget(m_refusal);
    connect(m_families, &QListWidget::itemChanged, this, &ScalerLab::replay);
    connect(m_families, &QListWidget::currentRowChanged, this, &ScalerLab::chooseFamily);
    connect(m_form, &ScalerForm::edited, this, &ScalerLab::editParameter);
    return part;
}

QWidget* ScalerLab::makeSource()
{
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    m_source = new QComboBox;
    m_source->addItems({tr("made by hand"), tr("the gradients of a stored run")});
    m_source->setAccessibleName(tr("Where the steps come from"));
    m_source->setToolTip(tr("A step of a stored run overflows if its largest gradient, multiplied with the family's "
                            "scale, is beyond FP16."));
    keepWheelForScrolling(m_source);
    auto* row = new QHBoxLayout;
    row->addWidget(labelFor(tr("&Steps"), m_source));
    row->addWidget(m_source);
    row->addStretch();
    m_pages = new QStackedWidget;
    m_pages->addWidget(makeTraceEditor());
    m_pages->addWidget(makeRunPicker());
    m_pages->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    column->addLayout(row);
    column->addWidget(m_pages);
    connect(m_source, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_pages->setCurrentIndex(index);
        replay();
    });
    return part;
}

QWidget* ScalerLab::makeTraceEditor()
{
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    m_presets = new QComboBox;
    m_presets->setAccessibleName(tr("Example"));
    for (const Preset& preset : presets) {
        m_presets->addItem(tr(preset.name));
    }
    keepWheelForScrolling(m_presets);
    m_length = new QSpinBox;
    m_length->setRange(1, mostSteps);
    m_length->setAccessibleName(tr("Number of steps"));
    keepWheelForScrolling(m_length);
    m_strip = new TraceStrip;
    m_strip->setToolTip(tr("Click, drag or press Space to make a step finite or not."));
    auto* row = new QHBoxLayout;
    row->addWidget(labelFor(tr("&Example"), m_presets));
    row->addWidget(m_presets);
    row->addWidget(labelFor(tr("&Number"), m_length));
    row->addWidget(m_length);
    row->addStretch();
    column->addLayout(row);
    column->addWidget(m_strip);
    connect(m_presets, &QComboBox::activated, this,
        [this](int index) { m_strip->setSteps(stepsOf(presets.at(static_cast<std::size_t>(index)))); });
    connect(m_length, &QSpinBox::valueChanged, m_strip, &TraceStrip::setLength);
    connect(m_strip, &TraceStrip::changed, this, [this] {
        const QSignalBlocker blocker(m_length);
        m_length->setValue(static_cast<int>(m_strip->steps().size()));
        replay();
    });
    return part;
}

QWidget* ScalerLab::makeRunPicker()
{
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    m_runs = new QComboBox;
    m_runs->setAccessibleName(tr("Stored run"));
    m_runs->setToolTip(tr("Newest first"));
    keepWheelForScrolling(m_runs);
    m_runNote = new QLabel(tr("There are no stored runs yet."));
    m_runNote->setWordWrap(true);
    auto* row = new QHBoxLayout;
    row->addWidget(labelFor(tr("&Run"), m_runs));
    row->addWidget(m_runs, 1);
    column->addLayout(row);
    column->addWidget(m_runNote);
    column->addStretch();
    connect(m_runs, &QComboBox::currentIndexChanged, this, &ScalerLab::chooseRun);
    return part;
}

QWidget* ScalerLab::makeResults()
{
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    m_results = new QTableWidget(0, ColumnCount);
    m_results->setHorizontalHeaderLabels({tr("Family"), tr("Skips"), tr("Growths"), tr("Final scale"), tr("End")});
    m_results->setAccessibleName(tr("What each family did"));
    m_results->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_results->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_results->setTabKeyNavigation(false);
    m_results->verticalHeader()->hide();
    m_results->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    m_results->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_results->horizontalHeader()->setSectionResizeMode(EndColumn, QHeaderView::Stretch);
    auto* exportButton = new QPushButton(tr("E&xport\u2026"));
    exportButton->setToolTip(tr("The plot as PNG, PDF or SVG, or its numbers as CSV"));
    exportButton->setAutoDefault(false);
    auto* close = new QPushButton(tr("Close"));
    close->setAutoDefault(false);
    auto* buttons = new QHBoxLayout;
    buttons->addStretch();
    buttons->addWidget(exportButton);
    buttons->addWidget(close);
    column->addWidget(m_results);
    column->addLayout(buttons);
    connect(exportButton, &QPushButton::clicked, this, [this] { m_plot->showExportDialog(); });
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    return part;
}

void ScalerLab::listRuns(const RunArchive::Runs& runs)
{
    const QSignalBlocker blocker(m_runs);
    m_runs->clear();
    for (const RunInfo& run : *runs) {
        m_runs->addItem(tr("%1: %2, %3, %4 steps")
                            .arg(run.id)
                            .arg(QString::fromStdString(run.lane), QString::fromStdString(run.experimentName),
                                formatCount(run.steps)),
            static_cast<qlonglong>(run.id));
    }
    const int index = std::max(0, m_runs->findData(static_cast<qlonglong>(m_run)));
    m_runs->setCurrentIndex(m_runs->count() > 0 ? index : -1);
    chooseRun(m_runs->currentIndex());
}

void ScalerLab::chooseRun(int index)
{
    m_runSteps.reset();
    if (index >= 0) {
        m_run = m_runs->itemData(index).toLongLong();
        m_runNote->setText(tr("Reading the run\u2026"));
        m_loader->loadGradients(m_run);
    }
}

void ScalerLab::chooseFamily(int row)
{
    const ScalerFamily& family = *scalerFamilyTable()[static_cast<std::size_t>(std::max(row, 0))];
    m_familyTitle->setText(
        QStringLiteral("<b>%1</b><br>%2")
            .arg(titleOf(family).toHtmlEscaped(), scalerSummary(std::string(family.name)).toHtmlEscaped()));
    m_form->display(m_configs.at(std::string(family.name)));
    m_refusal->hide();
}

void ScalerLab::editParameter(const std::string& key, const nlohmann::json& value)
{
    const ScalerFamily& family = *scalerFamilyTable()[static_cast<std::size_t>(m_families->currentRow())];
    ScalerConfig& config = m_configs.at(std::string(family.name));
    ScalerConfig changed = config;
    changed.parameters.erase(key);
    if (!value.is_null()) {
        readParameter(*findParameter(family, key), value, changed.parameters[key]);
    }
    const auto fault = findScalerFault(changed);
    if (fault) {
        m_refusal->setText(tr("%1 %2").arg(QString::fromStdString(fault->key), QString::fromStdString(fault->text)));
    } else {
        config = changed;
    }
    m_refusal->setVisible(fault.has_value());
    m_form->display(config);
    replay();
}

std::vector<PlayStep> ScalerLab::stepsToPlay() const
{
    std::vector<PlayStep> steps;
    if (m_source->currentIndex() == 1) {
        return m_runSteps ? *m_runSteps : steps;
    }
    for (const bool overflows : m_strip->steps()) {
        steps.push_back({.gradMax = overflows ? INFINITY : 0.0, .loss = {}});
    }
    return steps;
}

void ScalerLab::replay()
{
    const std::vector<PlayStep> steps = stepsToPlay();
    if (m_runSteps) {
        const auto infinite
            = std::ranges::count_if(*m_runSteps, [](const PlayStep& step) { return !std::isfinite(step.gradMax); });
        m_runNote->setText(infinite == 0
                ? tr("Every gradient of this run is finite.")
                : tr("%n step(s) of this run have gradients that are not finite; they count as "
                     "an overflow at any scale.",
                    nullptr, static_cast<int>(infinite)));
    }
    m_results->setRowCount(0);
    std::vector<ScalePath> paths;
    for (int i = 0; i < m_families->count(); ++i) {
        if (m_families->item(i)->checkState() != Qt::Checked) {
            continue;
        }
        const ScalerFamily& family = *scalerFamilyTable()[static_cast<std::size_t>(i)];
        const Play played = play(m_configs.at(std::string(family.name)), steps);
        ScalePath path = pathOf(played);
        path.name = titleOf(family);
        path.color = colorOf(i);
        path.style = laneStyle(i);
        paths.push_back(std::move(path));
        addResult(family, played);
    }
    m_plot->setPaths(std::move(paths));
    // As high as its rows, up to a few: the rest is the plot's.
    const int rows = std::min(m_results->rowCount(), mostRowsShown);
    m_results->setFixedHeight(m_results->horizontalHeader()->sizeHint().height()
        + rows * m_results->verticalHeader()->defaultSectionSize() + 2 * m_results->frameWidth());
}

void ScalerLab::addResult(const ScalerFamily& family, const Play& play)
{
    const int row = m_results->rowCount();
    m_results->insertRow(row);
    const auto set = [&](Column column, const QString& text, const QString& tip = {}) {
        auto* item = new QTableWidgetItem(text);
        item->setTextAlignment(
            (column == FamilyColumn || column == EndColumn ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        item->setToolTip(tip);
        m_results->setItem(row, column, item);
    };
    set(FamilyColumn, titleOf(family), scalerSummary(std::string(family.name)));
    set(SkipsColumn, formatCount(play.skipped));
    set(GrowthsColumn, formatCount(play.growths));
    set(FinalColumn, formatPowerOfTwo(play.finalScale()), formatExact(play.finalScale()));
    const QString why = QString::fromStdString(play.raised);
    set(EndColumn,
        play.raised.empty() ? QString()
                            : tr("ended the training at step %1").arg(formatCount(std::ssize(play.steps) - 1)),
        why);
}

} // namespace mantissa
