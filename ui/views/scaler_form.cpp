#include "ui/views/scaler_form.h"

#include "engine/core/phrase.h"
#include "ui/style/number_format.h"
#include "ui/views/number_field.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>

#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr int gap = 8;

QString textOf(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// Of the engine's words, which it has in English.
QString translated(std::string_view words)
{
    return QString::fromStdString(translatedPhrase(std::string(words).c_str()));
}

QString rangeText(const Range<double>& range)
{
    const QString low = formatValue(range.low, 6);
    const QString high = formatValue(range.high, 6);
    const QString text = range.lowIncluded && range.highIncluded ? ScalerForm::tr("from %1 to %2")
        : range.lowIncluded                                      ? ScalerForm::tr("from %1 to below %2")
        : range.highIncluded                                     ? ScalerForm::tr("above %1 to %2")
                                                                 : ScalerForm::tr("above %1 to below %2");
    return text.arg(low, high);
}

QString defaultText(const ScalerParameter& parameter)
{
    if (parameter.kind == ScalerParameterKind::Flag) {
        return *parameter.byDefault != 0 ? ScalerForm::tr("on") : ScalerForm::tr("off");
    }
    return parameter.byDefault ? formatPowerOfTwo(*parameter.byDefault) : ScalerForm::tr("none");
}

/// Room for the longest number that a field shows.
int fieldWidth(const QFontMetrics& metrics)
{
    return metrics.horizontalAdvance(QStringLiteral("1.17549e-38")) + 2 * gap;
}

} // namespace

QString scalerTitle(const std::string& family)
{
    const ScalerFamily* known = findScalerFamily(family);
    return known == nullptr ? QString::fromStdString(family) : translated(known->title);
}

QString scalerSummary(const std::string& family)
{
    const ScalerFamily* known = findScalerFamily(family);
    return known == nullptr ? QString() : translated(known->summary);
}

QString parameterHint(const ScalerParameter& parameter)
{
    const QString help = translated(parameter.help);
    if (parameter.kind == ScalerParameterKind::Flag) {
        return ScalerForm::tr("%1.\nDefault: %2").arg(help, defaultText(parameter));
    }
    return ScalerForm::tr("%1.\nDefault: %2; %3").arg(help, defaultText(parameter), rangeText(parameter.range));
}

ScalerForm::ScalerForm(FirstScale firstScale, QWidget* parent)
    : QWidget(parent)
    , m_firstScale(firstScale)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void ScalerForm::rebuild(const ScalerFamily& family)
{
    m_family = &family;
    m_rows.clear();
    qDeleteAll(findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
    delete layout();
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(gap);
    grid->setVerticalSpacing(gap / 2);
    grid->setColumnStretch(1, 1);
    QWidget* before = this;
    for (const ScalerParameter& parameter : family.parameters) {
        if (m_firstScale == FirstScale::Hidden && parameter.key == "init_scale") {
            continue;
        }
        if (parameter.kind == ScalerParameterKind::Flag) {
            addFlag(parameter);
        } else {
            addNumber(parameter);
        }
        QWidget* control = m_rows.back().field;
        control = control ? control : m_rows.back().box;
        setTabOrder(before, control); // else new fields would come after everything else in the window
        before = control;
    }
    setVisible(!m_rows.empty()); // no gap where there is nothing
    updateGeometry();
}

void ScalerForm::addNumber(const ScalerParameter& parameter)
{
    auto* field = new NumberField;
    const Range<double>& range = parameter.range;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const bool isWhole = parameter.kind == ScalerParameterKind::WholeNumber;
    field->setRange(range.lowIncluded ? range.low : std::nextafter(range.low, infinity),
        range.highIncluded ? range.high : std::nextafter(range.high, -infinity),
        (isWhole ? tr("a whole number %1") : tr("a number %1")).arg(rangeText(range)));
    field->setInteger(isWhole);
    field->setClearable(defaultText(parameter));
    field->setAccessibleName(textOf(parameter.ownName));
    field->setMinimumWidth(fieldWidth(fontMetrics()));
    auto* label = new QLabel(textOf(parameter.ownName));
    label->setBuddy(field);
    label->setToolTip(parameterHint(parameter));
    auto* grid = static_cast<QGridLayout*>(layout());
    const int row = grid->rowCount();
    grid->addWidget(label, row, 0);
    grid->addWidget(field, row, 1);
    m_rows.push_back({&parameter, label, field, nullptr});
    connect(field, &NumberField::committed, this, [this, &parameter](double value) {
        emit edited(std::string(parameter.key), parameterJson(parameter.kind, value));
    });
    connect(field, &NumberField::cleared, this, [this, field, &parameter] {
        field->setValue(parameter.byDefault.value_or(std::numeric_limits<double>::quiet_NaN()));
        emit edited(std::string(parameter.key), parameterJson(parameter.kind, parameter.byDefault));
    });
}

void ScalerForm::addFlag(const ScalerParameter& parameter)
{
    auto* box = new QCheckBox(textOf(parameter.ownName));
    box->setFocusPolicy(Qt::TabFocus);
    auto* grid = static_cast<QGridLayout*>(layout());
    grid->addWidget(box, grid->rowCount(), 0, 1, 2);
    m_rows.push_back({&parameter, nullptr, nullptr, box});
    connect(box, &QCheckBox::clicked, this, [this, &parameter](bool isOn) {
        emit edited(std::string(parameter.key), parameterJson(parameter.kind, isOn ? 1 : 0));
    });
}

void ScalerForm::display(const ScalerConfig& config, const Pending& pending)
{
    const ScalerFamily* family = findScalerFamily(config.family);
    if (family == nullptr) {
        return;
    }
    if (family != m_family) {
        rebuild(*family);
    }
    for (const Row& row : m_rows) {
        const std::string key(row.parameter->key);
        std::optional<double> value = valueOf(config, key);
        const auto waiting = pending ? pending(key) : std::nullopt;
        if (double number = 0; waiting && readParameter(*row.parameter, *waiting, number).empty()) {
            value = number;
        }
        if (row.field) {
            row.field->setValue(value.value_or(std::numeric_limits<double>::quiet_NaN()));
            row.field->setPending(waiting.has_value());
        } else {
            row.box->setChecked(value.value_or(0) != 0);
        }
    }
    setUsable(true, {});
}

void ScalerForm::setUsable(bool isUsable, const QString& whyNot)
{
    for (const Row& row : m_rows) {
        const QString hint = isUsable ? parameterHint(*row.parameter) : whyNot;
        if (row.field) {
            row.field->setEnabled(isUsable);
            row.field->setHint(hint);
            row.field->setAccessibleDescription(hint);
        } else {
            row.box->setEnabled(isUsable);
            row.box->setToolTip(hint);
            row.box->setAccessibleDescription(hint);
        }
    }
}

QSize ScalerForm::minimumSizeHint() const
{
    int widest = 0;
    for (const ScalerFamily* family : scalerFamilyTable()) {
        for (const ScalerParameter& parameter : family->parameters) {
            widest = std::max(widest, fontMetrics().horizontalAdvance(textOf(parameter.ownName)));
        }
    }
    const QSize rows = QWidget::minimumSizeHint();
    return {std::max(rows.width(), widest + gap + fieldWidth(fontMetrics())), std::max(rows.height(), 0)};
}

} // namespace mantissa
