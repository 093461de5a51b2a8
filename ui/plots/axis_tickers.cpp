#include "ui/plots/axis_tickers.h"

#include "ui/style/number_format.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

ValueTicker::ValueTicker(bool wholeNumbers)
    : m_wholeNumbers(wholeNumbers)
{
}

double ValueTicker::getTickStep(const QCPRange& range)
{
    const double step = QCPAxisTicker::getTickStep(range);
    return m_wholeNumbers ? std::max(1.0, std::round(step)) : step;
}

QString ValueTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    // A sum of steps misses 0 by a rounding error, which would read as 1.4e-17.
    const double shown = std::abs(tick) < 1e-14 ? 0 : tick;
    return m_wholeNumbers ? formatCount(std::llround(shown)) : formatValue(shown, 6);
}

PowerTicker::PowerTicker(int base)
    : m_base(base)
{
}

QVector<double> PowerTicker::createTickVector(double, const QCPRange& range)
{
    QVector<double> ticks;
    if (!(range.lower > 0)) {
        return ticks;
    }
    const double logBase = std::log(m_base);
    const double first = std::log(range.lower) / logBase;
    const double last = std::log(range.upper) / logBase;
    const double powers = last - first;
    const double decades = std::log10(range.upper / range.lower);
    if (m_base == 10 && decades < 0.6) {
        return QCPAxisTicker::createTickVector(QCPAxisTicker::getTickStep(range), range);
    }
    const bool between = m_base == 10 && decades < 1.7;
    const double stride = std::max(1.0, std::ceil(powers / std::max(2, mTickCount)));
    for (double exponent = std::floor(first / stride) * stride; exponent <= last + stride; exponent += stride) {
        const double power = std::pow(m_base, exponent);
        ticks.append(power);
        if (between) {
            ticks.append(2 * power);
            ticks.append(5 * power);
        }
    }
    return ticks;
}

int PowerTicker::getSubTickCount(double)
{
    return 0;
}

QVector<double> PowerTicker::createSubTickVector(int, const QVector<double>&)
{
    return {};
}

QString PowerTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    int exponent = 0;
    if (m_base == 2 && powerOfTwoExponent(tick, exponent)) {
        return QStringLiteral("2^%1").arg(exponent);
    }
    return formatValue(tick);
}

} // namespace mantissa
