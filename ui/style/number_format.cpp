#include "ui/style/number_format.h"

#include <QCoreApplication>
#include <QLocale>

#include <charconv>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr double plainFrom = 1e-4;
constexpr double plainBelow = 1e6;

QString translated(const char* text)
{
    return QCoreApplication::translate("NumberFormat", text);
}

QString dropTrailingZeros(QString text, const QString& decimalPoint)
{
    if (!text.contains(decimalPoint)) {
        return text;
    }
    while (text.endsWith(QLatin1Char('0'))) {
        text.chop(1);
    }
    if (text.endsWith(decimalPoint)) {
        text.chop(decimalPoint.size());
    }
    return text;
}

bool readsPlain(double value)
{
    const double magnitude = std::abs(value);
    return magnitude == 0 || (magnitude >= plainFrom && magnitude < plainBelow);
}

QString plain(double value, int digits)
{
    // The power of ten of the value as it will be printed: 9.99996 with four digits is 10.00.
    int exponent = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
    if (std::abs(value) + 0.5 * std::pow(10.0, exponent - digits + 1) >= std::pow(10.0, exponent + 1)) {
        ++exponent;
    }
    return QLocale().toString(value, 'f', std::max(0, digits - 1 - exponent));
}

/// With a small e, as Python prints it: people compare these numbers with their scripts' output.
QString withExponent(double value, int digits)
{
    QString text = QLocale().toString(value, 'e', digits - 1);
    return text.replace(QLocale().exponential(), QStringLiteral("e"));
}

} // namespace

QString nonFiniteWord(double value)
{
    if (std::isnan(value)) {
        return translated(QT_TRANSLATE_NOOP("NumberFormat", "NaN"));
    }
    return value > 0 ? translated(QT_TRANSLATE_NOOP("NumberFormat", "infinity"))
                     : translated(QT_TRANSLATE_NOOP("NumberFormat", "-infinity"));
}

QString formatColumn(double value, int digits)
{
    if (!std::isfinite(value)) {
        return nonFiniteWord(value);
    }
    return readsPlain(value) ? plain(value, digits) : withExponent(value, digits);
}

QString formatValue(double value, int digits)
{
    if (!std::isfinite(value)) {
        return nonFiniteWord(value);
    }
    const QString point = QLocale().decimalPoint();
    if (readsPlain(value)) {
        return dropTrailingZeros(plain(value, digits), point);
    }
    const QString text = withExponent(value, digits);
    const auto split = text.indexOf(QLatin1Char('e'));
    return split < 0 ? text : dropTrailingZeros(text.left(split), point) + text.mid(split);
}

QString formatExact(double value)
{
    if (std::isnan(value)) {
        return QStringLiteral("nan");
    }
    if (std::isinf(value)) {
        return value > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
    }
    char buffer[32];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    return QString::fromLatin1(buffer, result.ptr - buffer);
}

QString percent(double share)
{
    return QLocale().toString(share * 100, 'f', share < 0.0995 ? 1 : 0) + QStringLiteral(" %");
}

QString exactPercent(double share)
{
    constexpr int digits = 3;
    return formatValue(share * 100, digits) + QStringLiteral(" %");
}

QString formatCount(std::int64_t value)
{
    return QLocale().toString(static_cast<qlonglong>(value));
}

bool powerOfTwoExponent(double value, int& exponent)
{
    if (!std::isfinite(value) || value <= 0) {
        return false;
    }
    int power = 0;
    if (std::frexp(value, &power) != 0.5) {
        return false;
    }
    exponent = power - 1;
    return true;
}

QString formatBytes(std::uint64_t bytes)
{
    return QLocale().formattedDataSize(static_cast<qint64>(bytes), 1, QLocale::DataSizeIecFormat);
}

QString formatPowerOfTwo(double value)
{
    int exponent = 0;
    return powerOfTwoExponent(value, exponent) ? QStringLiteral("2^%1").arg(exponent) : formatValue(value);
}

QString formatScale(double value)
{
    int exponent = 0;
    if (!powerOfTwoExponent(value, exponent)) {
        return formatValue(value);
    }
    if (exponent == 0) {
        return formatCount(1);
    }
    constexpr int exactDigits = 53;
    const bool asCount = exponent > 0 && exponent <= exactDigits;
    const QString plainText = asCount ? formatCount(std::int64_t {1} << exponent) : formatValue(value);
    return QStringLiteral("2^%1 (%2)").arg(QString::number(exponent), plainText);
}

} // namespace mantissa
