/// Ticks whose labels read the same in the whole window.
#pragma once

#include <qcustomplot.h>

namespace mantissa {

/// Round numbers, labelled with formatValue(); for a step axis whole numbers only.
class ValueTicker : public QCPAxisTicker
{
public:
    explicit ValueTicker(bool wholeNumbers = false);

protected:
    double getTickStep(const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;

private:
    bool m_wholeNumbers;
};

/// For a log axis: powers of `base` (2: labelled 2^n), thinned out where they are too dense; within less than about one
/// power of ten, 1, 2, 5 and below that round numbers.
class PowerTicker : public QCPAxisTicker
{
public:
    explicit PowerTicker(int base);

protected:
    QVector<double> createTickVector(double tickStep, const QCPRange& range) override;
    int getSubTickCount(double tickStep) override;
    QVector<double> createSubTickVector(int subTickCount, const QVector<double>& ticks) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;

private:
    int m_base;
};

} // namespace mantissa
