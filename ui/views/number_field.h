/// A line of text that holds one number: exact, "2^16" and "1e-3" welcome, in the locale's or C notation. What is
/// typed counts when Enter is pressed or the field is left; text that is no number, or out of range, is explained and
/// taken back.
#pragma once

#include <QLineEdit>
#include <QString>

#include <limits>
#include <optional>

namespace mantissa {

/// "65536", "65,536" (as the locale groups), "1e-3", "2^16". No value: not a finite number.
std::optional<double> parseNumber(const QString& text);

class NumberField : public QLineEdit
{
    Q_OBJECT
public:
    explicit NumberField(QWidget* parent = nullptr);

    /// Values outside are refused with `requirement`, as in "a number above 0".
    void setRange(double minimum, double maximum, const QString& requirement);

    /// Lets a person empty the field, which sends cleared(); `meaning` then stands in it. A value of NaN is shown as
    /// an empty field.
    void setClearable(const QString& meaning);

    void setInteger(bool isInteger) { m_isInteger = isInteger; }

    /// Shown unless a person is typing.
    void setValue(double value);

    [[nodiscard]] double value() const { return m_value; }

    /// A value that waits for the next step: italic, with words in the tooltip.
    void setPending(bool isPending);

    [[nodiscard]] bool isPending() const { return m_isPending; }

    void setHint(const QString& hint); ///< tooltip before the exact value

signals:
    void committed(double value);
    void cleared();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void commit();
    void revert();
    void showTip();

    double m_value = std::numeric_limits<double>::quiet_NaN();
    double m_minimum = -std::numeric_limits<double>::infinity();
    double m_maximum = std::numeric_limits<double>::infinity();
    QString m_requirement;
    QString m_hint;
    bool m_isInteger = false;
    bool m_isClearable = false;
    bool m_isPending = false;
};

} // namespace mantissa
