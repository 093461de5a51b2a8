#include "ui/views/checkpoint_dialog.h"

#include "ui/language/language.h"
#include "ui/views/number_field.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace mantissa {

CheckpointDialog::CheckpointDialog(
    const CheckpointSettings& settings, const std::filesystem::path& folder, QWidget* parent)
    : QDialog(parent)
    , m_isOn(new QCheckBox(tr("&Write checkpoints of every lane when it ends or is stopped, and")))
{
    setObjectName(QStringLiteral("checkpointDialog"));
    setWindowTitle(tr("Checkpoints"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(12);
    column->addWidget(m_isOn);
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(8);
    form->setVerticalSpacing(8);
    column->addLayout(form);
    m_everySeconds = addNumber(form, tr("&every"), tr("seconds"), tr("0: not by time"), settings.everySeconds, 0);
    m_everySteps = addNumber(
        form, tr("e&very"), tr("steps"), tr("0: not by steps"), static_cast<double>(settings.everySteps), 0);
    m_kept = addNumber(form, tr("&Keep of each lane"), tr("files, the newest"),
        tr("One that turns out bad has a predecessor"), static_cast<double>(settings.kept), 1);
    m_mostGib = addNumber(form, tr("&Disk space"), tr("GiB; above, the oldest sessions' checkpoints go"),
        tr("Of the newest session none are removed"), settings.mostGib, 0);

    m_everySteps->setInteger(true);
    m_kept->setInteger(true);

    auto* where = new QLabel(folder.empty()
            ? tr("No runs are stored, so no checkpoints are written either.")
            : tr("They go to %1. What is set here counts for experiments opened or reset from now on.")
                  .arg(QString::fromStdString(folder.string())));
    where->setWordWrap(true);
    where->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    column->addWidget(where);
    column->addStretch(1);

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);

    const auto enable = [this](bool isOn) {
        for (NumberField* field : {m_everySeconds, m_everySteps, m_kept, m_mostGib}) {
            field->setEnabled(isOn);
        }
    };
    connect(m_isOn, &QCheckBox::toggled, this, enable);
    m_isOn->setChecked(settings.isOn);
    enable(settings.isOn);
    resize(fontMetrics().averageCharWidth() * 76, sizeHint().height());
}

NumberField* CheckpointDialog::addNumber(
    QFormLayout* form, const QString& name, const QString& unit, const QString& tip, double value, double least)
{
    constexpr double most = 1e9;
    auto* field = new NumberField;
    field->setAccessibleName(withoutAccessKey(name) + QLatin1Char(' ') + unit);
    field->setHint(tip);
    field->setRange(least, most, tr("a number from %1 to %2").arg(least).arg(most));
    field->setValue(value);
    field->setFixedWidth(fontMetrics().averageCharWidth() * 12);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(field);
    row->addWidget(new QLabel(unit));
    row->addStretch(1);
    auto* label = new QLabel(name);
    label->setBuddy(field);
    form->addRow(label, row);
    return field;
}

CheckpointSettings CheckpointDialog::settings() const
{
    return {.isOn = m_isOn->isChecked(),
        .everySteps = static_cast<std::int64_t>(m_everySteps->value()),
        .everySeconds = m_everySeconds->value(),
        .kept = static_cast<std::int64_t>(m_kept->value()),
        .mostGib = m_mostGib->value()};
}

} // namespace mantissa
