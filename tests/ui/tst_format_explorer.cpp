/// The format explorer: a number that is typed, a bit that is turned over, a place that is clicked, and what all
/// formats then show.
#include "ui/views/bit_row.h"
#include "ui/views/format_explorer.h"
#include "ui/views/range_line.h"

#include <QLabel>
#include <QLineEdit>
#include <QTableWidget>
#include <QTest>

#include <cmath>

using namespace mantissa;

namespace {

template <typename Widget> Widget* named(QWidget* parent, const QString& name)
{
    for (auto* widget : parent->findChildren<Widget*>()) {
        if (widget->accessibleName() == name) {
            return widget;
        }
    }
    return nullptr;
}

void type(QLineEdit* field, const QString& text)
{
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, text);
    QTest::keyClick(field, Qt::Key_Return);
}

} // namespace

class TestFormatExplorer : public QObject
{
    Q_OBJECT

private slots:

    void aTypedNumberIsShownInEveryFormat()
    {
        FormatExplorer explorer;
        explorer.show();
        type(named<QLineEdit>(&explorer, QStringLiteral("Number")), QStringLiteral("0.12345"));
        QCOMPARE(valueIn(explorer, "FP16"), QStringLiteral("0.12347412109375")); // C01
        QCOMPARE(valueIn(explorer, "FP8 E4M3"), QStringLiteral("0.125"));
        type(named<QLineEdit>(&explorer, QStringLiteral("Number")), QStringLiteral("2^-24"));
        QCOMPARE(valueIn(explorer, "FP8 E5M2"), QStringLiteral("0"));
        QVERIFY(valueIn(explorer, "FP16").startsWith(QStringLiteral("5.96046447")));
        type(named<QLineEdit>(&explorer, QStringLiteral("Number")), QStringLiteral("nan"));
        QCOMPARE(valueIn(explorer, "BF16"), QStringLiteral("nan"));
        type(named<QLineEdit>(&explorer, QStringLiteral("Number")), QStringLiteral("70000"));
        QCOMPARE(valueIn(explorer, "FP16"), QStringLiteral("inf"));
        type(named<QLineEdit>(&explorer, QStringLiteral("Number")), QStringLiteral("abc"));
        QCOMPARE(explorer.value(), 70000.0);
    }

    void aBitIsTurnedOver()
    {
        FormatExplorer explorer;
        explorer.show();
        explorer.setValue(1);
        auto* bits = named<BitRow>(&explorer, QStringLiteral("Bits in FP16"));
        QCOMPARE(bits->bits(), 0x3C00U);
        QTest::mouseClick(bits, Qt::LeftButton, {}, bits->bitRect(0).center());
        QCOMPARE(explorer.value(), 1 + 0x1p-10);
        QTest::mouseClick(bits, Qt::LeftButton, {}, bits->bitRect(15).center());
        QCOMPARE(explorer.value(), -1 - 0x1p-10);
        bits->setFocus();
        QTest::keyClick(bits, Qt::Key_Right); // from the sign to the exponent's first bit
        QTest::keyClick(bits, Qt::Key_Space);
        QVERIFY(std::isnan(explorer.value()));
        QVERIFY(bits->accessibleDescription().size() == 16);
    }

    void aPlaceOnTheLineIsAPowerOfTwo()
    {
        FormatExplorer explorer;
        explorer.show();
        auto* line = explorer.findChild<RangeLine*>();
        QTest::mouseClick(line, Qt::LeftButton, {}, QPoint(line->width() - 4, line->height() / 2));
        int exponent = 0;
        QCOMPARE(std::frexp(explorer.value(), &exponent), 0.5);
        QVERIFY(exponent > 100);
    }

    void sumsShowWhereTheyStop()
    {
        FormatExplorer explorer;
        explorer.show();
        auto* table = named<QTableWidget>(&explorer, QStringLiteral("Results in every format"));
        type(named<QLineEdit>(&explorer, QStringLiteral("a")), QStringLiteral("1"));
        type(named<QLineEdit>(&explorer, QStringLiteral("b")), QStringLiteral("0.001"));
        type(named<QLineEdit>(&explorer, QStringLiteral("n")), QStringLiteral("5000"));
        QVERIFY(table->item(3, 0)->text() == QStringLiteral("FP16"));
        QCOMPARE(table->item(0, 5)->text(), QStringLiteral("5000"));
        QVERIFY(table->item(3, 5)->text().startsWith(QStringLiteral("2048, and stays there after 2,048")));
        QCOMPARE(table->item(2, 1)->text(), QStringLiteral("1")); // 1 + 0.001 in BF16
        type(named<QLineEdit>(&explorer, QStringLiteral("n")), QStringLiteral("1.5"));
        QVERIFY(table->item(3, 5)->text().isEmpty());
        type(named<QLineEdit>(&explorer, QStringLiteral("a")), QStringLiteral("x"));
        QVERIFY(table->item(0, 1)->text().isEmpty());
    }

private:
    static QString valueIn(FormatExplorer& explorer, const char* format)
    {
        return named<QLabel>(&explorer, QStringLiteral("Value in %1").arg(QLatin1String(format)))->text();
    }
};

QTEST_MAIN(TestFormatExplorer)
#include "tst_format_explorer.moc"
