#include "ui/sweep/sweep_dialog.h"

#include "engine/core/error.h"
#include "engine/train/setting_table.h"
#include "ui/language/language.h"
#include "ui/plots/curve_export.h"
#include "ui/plots/picture_file.h"
#include "ui/style/number_format.h"

#include <QComboBox>
#include <QCompleter>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <fmt/format.h>

namespace mantissa {

namespace {

constexpr std::size_t mostInWindow = 1024; // runs; larger sweeps are for the command line

/// What is swept most, before all others.
QStringList settingPaths()
{
    QStringList paths {QStringLiteral("optimizer.lr"), QStringLiteral("precision.policy"),
        QStringLiteral("scaler.family"), QStringLiteral("scaler.init_scale"), QStringLiteral("seed"),
        QStringLiteral("data.batch")};
    for (const Setting& setting : settingTable()) {
        const QString path = QString::fromStdString(setting.path);
        if (!paths.contains(path) && path != QLatin1String("color")) {
            paths << path;
        }
    }
    return paths;
}

} // namespace

nlohmann::json valuesFrom(const QString& text)
{
    nlohmann::json values = nlohmann::json::parse(fmt::format("[{}]", text.toStdString()), nullptr, false);
    if (!values.is_discarded()) {
        return values;
    }
    values = nlohmann::json::array();
    for (const QString& part : text.split(QLatin1Char(','))) {
        const std::string word = part.trimmed().toStdString();
        if (!word.empty()) {
            const nlohmann::json value = nlohmann::json::parse(word, nullptr, false);
            values.push_back(value.is_discarded() ? nlohmann::json(word) : value);
        }
    }
    return values;
}

SweepDialog::SweepDialog(Experiment experiment, QWidget* parent)
    : QDialog(parent)
    , m_experiment(std::move(experiment))
    , m_name(new QLineEdit)
    , m_lane(new QComboBox)
    , m_message(new QLabel)
    , m_start(new QPushButton(tr("&Start")))
    , m_save(new QPushButton(tr("Save as &file\u2026")))
{
    setWindowTitle(tr("New sweep"));
    makeLayout();
    const double lr = m_experiment.lanes.front().optimizer.lr;
    m_settings[0]->setCurrentText(QStringLiteral("optimizer.lr"));
    m_values[0]->setText(QStringLiteral("%1, %2, %3").arg(formatExact(lr / 4), formatExact(lr), formatExact(lr * 4)));
    m_settings[1]->setCurrentText(QStringLiteral("seed"));
    const auto seed = static_cast<qulonglong>(m_experiment.lanes.front().seed);
    m_values[1]->setText(QStringLiteral("%1, %2").arg(seed).arg(seed + 1));
    for (int i = 0; i < mostSettings; ++i) {
        explain(i);
        connect(settingField(i), &QComboBox::currentTextChanged, this, [this, i] {
            explain(i);
            read();
        });
        connect(valuesField(i), &QLineEdit::textChanged, this, &SweepDialog::read);
    }
    connect(m_name, &QLineEdit::textChanged, this, &SweepDialog::read);
    connect(m_lane, &QComboBox::currentIndexChanged, this, &SweepDialog::read);
    read();
    whenLanguageChanges(this, [this] { read(); });
}

void SweepDialog::makeLayout()
{
    m_name->setText(tr("Sweep of %1").arg(QString::fromStdString(m_experiment.name)).left(150));
    m_lane->addItem(tr("All lanes"));
    for (const LaneConfig& lane : m_experiment.lanes) {
        m_lane->addItem(QString::fromStdString(lane.name));
    }
    m_lane->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_lane->setMinimumContentsLength(20);
    m_lane->setToolTip(tr("Which lanes are trained at every point"));
    auto* form = new QFormLayout;
    form->addRow(tr("&Name"), m_name);
    form->addRow(tr("&Lane"), m_lane);
    const QStringList paths = settingPaths();
    for (int i = 0; i < mostSettings; ++i) {
        auto* setting = new QComboBox;
        keepWords(setting);
        setting->setEditable(true);
        setting->setInsertPolicy(QComboBox::NoInsert);
        setting->addItem(QString());
        setting->addItems(paths);
        setting->completer()->setFilterMode(Qt::MatchContains);
        setting->completer()->setCompletionMode(QCompleter::PopupCompletion);
        setting->setMinimumContentsLength(22);
        setting->setAccessibleName(tr("Setting %1").arg(i + 1));
        auto* values = new QLineEdit;
        values->setPlaceholderText(tr("values, with commas between"));
        values->setAccessibleName(tr("Values of setting %1").arg(i + 1));
        values->setMinimumWidth(values->fontMetrics().averageCharWidth() * 36);
        auto* line = new QHBoxLayout;
        line->addWidget(setting);
        line->addWidget(values, 1);
        auto* label = new QLabel(tr("Setting &%1").arg(i + 1));
        label->setBuddy(setting);
        form->addRow(label, line);
        m_settings[static_cast<std::size_t>(i)] = setting;
        m_values[static_cast<std::size_t>(i)] = values;
    }
    m_message->setWordWrap(true);
    m_message->setMinimumHeight(m_message->fontMetrics().height() * 3);
    m_message->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_message->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_message->setAccessibleName(tr("What the sweep comes to"));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    buttons->addButton(m_start, QDialogButtonBox::AcceptRole);
    buttons->addButton(m_save, QDialogButtonBox::ActionRole);
    m_start->setDefault(true);
    m_save->setToolTip(tr("For mantissa-cli sweep, here or on a cluster"));
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_save, &QPushButton::clicked, this, &SweepDialog::save);
    auto* column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(m_message);
    column->addWidget(buttons);
}

/// The values that the setting may have.
void SweepDialog::explain(int i)
{
    const Setting* setting = findSetting(settingField(i)->currentText().toStdString());
    valuesField(i)->setToolTip(setting == nullptr
            ? QString()
            : QString::fromStdString(
                setting->allowed.empty() ? setting->type : setting->type + ", " + setting->allowed));
}

nlohmann::json SweepDialog::document() const
{
    nlohmann::json grid = nlohmann::json::object();
    for (int i = 0; i < mostSettings; ++i) {
        const std::string path = settingField(i)->currentText().trimmed().toStdString();
        if (!path.empty()) {
            grid[path] = valuesFrom(valuesField(i)->text());
        }
    }
    std::vector<std::string> lanes;
    for (const LaneConfig& lane : m_experiment.lanes) {
        if (m_lane->currentIndex() == 0 || lane.name == m_lane->currentText().toStdString()) {
            lanes.push_back(lane.name);
        }
    }
    return composeSweep(m_name->text().trimmed().toStdString(), m_experiment, lanes, grid);
}

void SweepDialog::read()
{
    m_sweep.reset();
    QString text;
    QStringList paths;
    for (int i = 0; i < mostSettings; ++i) {
        const QString path = settingField(i)->currentText().trimmed();
        if (!path.isEmpty() && paths.contains(path)) {
            text = tr("%1 is there twice.").arg(path);
        }
        paths << path;
    }
    if (paths.join(QString()).isEmpty()) {
        text = tr("Choose a setting to vary, and its values.");
    }
    if (text.isEmpty()) {
        try {
            m_sweep = parseSweep(document().dump(), {}, m_experiment.directory, mostInWindow);
            const auto count = [](std::size_t number) { return formatCount(static_cast<qint64>(number)); };
            text = tr("%1 points, %2 runs of %3 steps, one after another.")
                       .arg(count(m_sweep->points.size()), count(m_sweep->runCount()),
                           formatCount(m_sweep->experiment.lanes.front().steps));
        } catch (const std::exception& error) {
            text = QString::fromUtf8(error.what());
        }
    }
    m_message->setText(text);
    m_start->setEnabled(m_sweep.has_value());
    m_save->setEnabled(m_sweep.has_value());
}

QString SweepDialog::message() const
{
    return m_message->text();
}

void SweepDialog::saveTo(const QString& file) const
{
    const QByteArray text = QByteArray::fromStdString(document().dump(2) + '\n');
    writeFile(file, [&text](QIODevice& device) { return device.write(text) == text.size(); });
}

void SweepDialog::save()
{
    const QString done = saveByDialog(
        this, QStringLiteral("sweep.json"), tr("Sweep (*.json)"), [this](const QString& file) { saveTo(file); });
    if (!done.isEmpty()) {
        m_message->setText(done);
    }
}

} // namespace mantissa
