#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QGuiApplication>
#include <QLocale>
#include <QTest>

#include <cmath>
#include <limits>

using namespace mantissa;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
} // namespace

class TstStyle : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }

    void valuesShowFourSignificantDigits_data()
    {
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("loose");
        QTest::addColumn<QString>("column");
        QTest::newRow("zero") << 0.0 << "0"
                              << "0.000";
        QTest::newRow("half") << 0.5 << "0.5"
                              << "0.5000";
        QTest::newRow("third") << 1.0 / 3 << "0.3333"
                               << "0.3333";
        QTest::newRow("carries") << 9.99996 << "10"
                                 << "10.00";
        QTest::newRow("small plain") << 0.00012345 << "0.0001234"
                                     << "0.0001234";
        QTest::newRow("small") << 1.25e-7 << "1.25e-07"
                               << "1.250e-07";
        QTest::newRow("thousands") << 12345.6 << "12,346"
                                   << "12,346";
        QTest::newRow("large") << 3.5e12 << "3.5e+12"
                               << "3.500e+12";
        QTest::newRow("negative") << -2.5 << "-2.5"
                                  << "-2.500";
        QTest::newRow("infinity") << infinity << "infinity"
                                  << "infinity";
        QTest::newRow("minus infinity") << -infinity << "-infinity"
                                        << "-infinity";
        QTest::newRow("not a number") << notANumber << "NaN"
                                      << "NaN";
    }

    void valuesShowFourSignificantDigits()
    {
        QFETCH(double, value);
        QTEST(formatValue(value), "loose");
        QTEST(formatColumn(value), "column");
    }

    void exactTextReadsBackTheSame_data()
    {
        QTest::addColumn<double>("value");
        for (const double value :
            {0.1, 1.0 / 3, 65504.0, 5.960464477539063e-8, 4.9e-324, 1.7976931348623157e308, -0.0}) {
            QTest::newRow(qPrintable(QString::number(value))) << value;
        }
    }

    void exactTextReadsBackTheSame()
    {
        QFETCH(double, value);
        bool ok = false;
        const double back = QLocale::c().toDouble(formatExact(value), &ok);
        QVERIFY(ok);
        QCOMPARE(std::signbit(back), std::signbit(value));
        QVERIFY(back == value);
    }

    void notFiniteIsSpeltAsPandasReadsIt()
    {
        QCOMPARE(formatExact(infinity), QStringLiteral("inf"));
        QCOMPARE(formatExact(-infinity), QStringLiteral("-inf"));
        QCOMPARE(formatExact(notANumber), QStringLiteral("nan"));
    }

    void scalesReadAsPowersOfTwo_data()
    {
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("text");
        QTest::newRow("default") << 65536.0 << "2^16 (65,536)";
        QTest::newRow("one") << 1.0 << "1";
        QTest::newRow("below one") << 0.25 << "2^-2 (0.25)";
        QTest::newRow("no power") << 1000.0 << "1,000";
        QTest::newRow("huge") << std::ldexp(1.0, 100) << "2^100 (1.268e+30)";
        QTest::newRow("zero") << 0.0 << "0";
        QTest::newRow("infinite") << infinity << "infinity";
    }

    void scalesReadAsPowersOfTwo()
    {
        QFETCH(double, value);
        QTEST(formatScale(value), "text");
    }

    void subnormalPowersOfTwoAreFound()
    {
        int exponent = 0;
        QVERIFY(powerOfTwoExponent(4.9406564584124654e-324, exponent));
        QCOMPARE(exponent, -1074);
        QVERIFY(!powerOfTwoExponent(3.0, exponent));
        QVERIFY(!powerOfTwoExponent(-2.0, exponent));
    }

    void laneColoursStandOutOnBothGrounds()
    {
        for (const bool dark : {false, true}) {
            const QColor ground = plotColors(dark ? darkPalette() : lightPalette()).background;
            for (int lane = 0; lane < 12; ++lane) {
                QVERIFY(contrastRatio(laneColor(lane, dark), ground) >= 3.0);
            }
        }
    }

    void lanesBeyondSixDifferByDashes()
    {
        for (int lane = 0; lane < 6; ++lane) {
            QCOMPARE(laneColor(lane, false), laneColor(lane + 6, false));
            QVERIFY(laneStyle(lane) != laneStyle(lane + 6));
        }
    }

    void anyColourBecomesReadable()
    {
        for (const QColor& ground : {QColor(Qt::white), QColor(0x16, 0x19, 0x1b)}) {
            for (const QColor& color :
                {QColor(Qt::white), QColor(Qt::black), QColor(Qt::yellow), QColor(0, 0, 90), ground}) {
                QVERIFY(contrastRatio(readableOn(color, ground), ground) >= 3.0);
            }
        }
        QCOMPARE(readableOn(QColor(Qt::blue), QColor(Qt::white)), QColor(Qt::blue));
    }

    void contrastFollowsWcag()
    {
        QVERIFY(std::abs(contrastRatio(Qt::black, Qt::white) - 21.0) < 1e-9);
        QVERIFY(
            std::abs(contrastRatio(QColor(0x77, 0x77, 0x77), Qt::white) - 4.48) < 0.005); // WebAIM's contrast checker
    }

    void palettesKnowWhetherTheyAreDark()
    {
        QVERIFY(isDark(darkPalette()));
        QVERIFY(!isDark(lightPalette()));
    }

    void digitsOfTheTabularFontHaveOneWidth()
    {
        const QFontMetricsF metrics(tabularFont(QGuiApplication::font()));
        for (char16_t digit = u'1'; digit <= u'9'; ++digit) {
            QCOMPARE(metrics.horizontalAdvance(QChar(digit)), metrics.horizontalAdvance(QLatin1Char('0')));
        }
    }
};

QTEST_MAIN(TstStyle)
#include "tst_style.moc"
