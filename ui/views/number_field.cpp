#include "ui/views/number_field.h"

#include "ui/language/language.h"
#include "ui/style/number_format.h"

#include <QKeyEvent>
#include <QLocale>
#include <QToolTip>

#include <cmath>

namespace mantissa {

std::optional<double> parseNumber(const QString& text)
{
    const QString plain = text.simplified();
    if (const qsizetype caret = plain.indexOf(QLatin1Char('^')); caret > 0) {
        const auto base = parseNumber(plain.left(caret));
        const auto exponent = parseNumber(plain.mid(caret + 1));
        if (!base || !exponent) {
            return std::nullopt;
        }
        const double power = std::pow(*base, *exponent);
        return std::isfinite(power) ? std::optional(power) : std::nullopt;
    }
    for (const QLocale& locale : {QLocale(), QLocale::c()}) {
        bool isNumber = false;
        const double value = locale.toDouble(plain, &isNumber);
        if (isNumber && std::isfinite(value)) {
            return value;
        }
    }
    return std::nullopt;
}

namespace {

/// Six digits, but 2^24 rather than 1.67772e+07.
QString shownText(double value)
{
    int exponent = 0;
    constexpr double longest = 1e6;
    return value >= longest && powerOfTwoExponent(value, exponent) ? formatPowerOfTwo(value) : formatValue(value, 6);
}

} // namespace

NumberField::NumberField(QWidget* parent)
    : QLineEdit(parent)
    , m_requirement(tr("a number"))
{
    setAlignment(Qt::AlignRight);
}

void NumberField::setRange(double minimum, double maximum, const QString& requirement)
{
    m_minimum = minimum;
    m_maximum = maximum;
    m_requirement = requirement;
}

void NumberField::setClearable(const QString& meaning)
{
    m_isClearable = true;
    setPlaceholderText(meaning);
}

void NumberField::setHint(const QString& hint)
{
    m_hint = hint;
    showTip();
}

void NumberField::setValue(double value)
{
    const bool isSame = m_value == value || (std::isnan(m_value) && std::isnan(value));
    if (hasFocus() && isModified()) {
        m_value = value;
        return;
    }
    if (!isSame || text().isEmpty()) {
        m_value = value;
        revert();
        showTip();
    }
}

void NumberField::setPending(bool isPending)
{
    if (isPending == m_isPending) {
        return;
    }
    m_isPending = isPending;
    QFont shown = font();
    shown.setItalic(isPending);
    setFont(shown);
    showTip();
}

void NumberField::showTip()
{
    QString tip = m_hint;
    if (!std::isnan(m_value)) {
        tip += (tip.isEmpty() ? QString() : QStringLiteral("\n")) + tr("Exactly %1").arg(formatExact(m_value));
    }
    if (m_isPending) {
        tip += QStringLiteral("\n") + tr("Waits for the next step.");
    }
    setToolTip(tip);
}

void NumberField::revert()
{
    setText(std::isnan(m_value) ? QString()
            : m_isInteger       ? QLocale().toString(static_cast<qlonglong>(m_value))
                                : shownText(m_value));
    setModified(false);
    setCursorPosition(0);
}

void NumberField::commit()
{
    if (!isModified()) {
        return;
    }
    if (m_isClearable && text().trimmed().isEmpty()) {
        setModified(false);
        emit cleared();
        return;
    }
    const std::optional<double> typed = parseNumber(text());
    const bool isWhole = !m_isInteger || (typed && std::trunc(*typed) == *typed);
    if (!typed || *typed < m_minimum || *typed > m_maximum || !isWhole) {
        const QString refused = text();
        revert();
        selectAll();
        QToolTip::showText(mapToGlobal(QPoint(0, height())),
            tr("\"%1\" is not possible here: this takes %2.").arg(refused, m_requirement), this);
        return;
    }
    setModified(false);
    const bool isNew = *typed != m_value;
    m_value = *typed;
    revert();
    showTip();
    if (isNew) {
        emit committed(*typed);
    }
}

void NumberField::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        commit();
        selectAll();
        return;
    }
    if (event->key() == Qt::Key_Escape && isModified()) {
        revert();
        selectAll();
        return;
    }
    QLineEdit::keyPressEvent(event);
}

void NumberField::focusOutEvent(QFocusEvent* event)
{
    commit();
    QLineEdit::focusOutEvent(event);
}

void NumberField::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::LanguageChange) {
        m_requirement = inPresentLanguage(m_requirement);
        m_hint = inPresentLanguage(m_hint);
        showTip();
    }
    QLineEdit::changeEvent(event);
}

} // namespace mantissa
