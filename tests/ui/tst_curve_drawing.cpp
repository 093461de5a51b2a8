// What stands between a series and its picture: the columns kept from frame to frame, and the painter of bands.
#include "ui/plots/band_image.h"
#include "ui/plots/smoothing.h"
#include "ui/plots/view_cache.h"

#include <QColor>
#include <QPainter>
#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using namespace mantissa;

namespace {

double anyValue(std::mt19937& random)
{
    std::normal_distribution<double> normal(2, 1);
    return random() % 50 == 0 ? std::numeric_limits<double>::quiet_NaN() : normal(random);
}

bool sameValue(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

} // namespace

class TstCurveDrawing : public QObject
{
    Q_OBJECT

private slots:

    void cachedColumnsEqualFreshOnesWhateverHappensToTheSeries()
    {
        std::mt19937 random(21);
        SeriesPyramid series;
        ViewCache cache;
        StepWindow window {0, 40'000, 5};
        std::int64_t step = 0;
        for (int round = 0; round < 400; ++round) {
            const auto added = static_cast<int>(random() % 300);
            for (int i = 0; i < added; ++i) {
                step += 1 + static_cast<std::int64_t>(random() % 100 == 0 ? random() % 900 : 0);
                series.append(step, anyValue(random));
            }
            if (random() % 20 == 0) {
                series.truncate(step - static_cast<std::int64_t>(random() % 500));
            }
            if (random() % 10 == 0) {
                const auto first = static_cast<std::int64_t>(random() % 20'000);
                window = {first, first + static_cast<std::int64_t>(random() % 60'000), static_cast<int>(random() % 12)};
            }
            const double weight = random() % 2 == 0 ? 0.6 : 0.995;
            std::vector<SeriesColumn> columns;
            series.columns(window.first, window.last, window.log2Width, columns);
            std::vector<SeriesSample> smoothed;
            smoothedColumns(series, columns, window.log2Width, weight, smoothed);

            const auto& cached = cache.columns(series, window);
            QCOMPARE(cached.size(), columns.size());
            for (std::size_t i = 0; i < columns.size(); ++i) {
                QCOMPARE(cached[i].first, columns[i].first);
                QCOMPARE(cached[i].lastStep, columns[i].lastStep);
                QCOMPARE(cached[i].stats.finite, columns[i].stats.finite);
                QCOMPARE(cached[i].stats.maximum, columns[i].stats.maximum);
                QCOMPARE(cached[i].stats.sum, columns[i].stats.sum);
                QVERIFY(sameValue(cached[i].stats.last, columns[i].stats.last));
            }
            const auto& cachedSmoothed = cache.smoothed(series, window, weight);
            QCOMPARE(cachedSmoothed.size(), smoothed.size());
            for (std::size_t i = 0; i < smoothed.size(); ++i) {
                QCOMPARE(cachedSmoothed[i].step, smoothed[i].step);
                // Added pieces start their memory anew, which only reaches to what the eye can tell.
                QVERIFY(sameValue(cachedSmoothed[i].value, smoothed[i].value)
                    || std::abs(cachedSmoothed[i].value - smoothed[i].value) < 0.05);
            }
        }
    }

    void bandsLieOverEachOtherAsPainted()
    {
        std::mt19937 random(22);
        BandImage bands;
        for (const QSize size : {QSize(61, 47), QSize(200, 30), QSize(61, 47)}) {
            QImage expected(size, QImage::Format_ARGB32_Premultiplied);
            expected.fill(Qt::transparent);
            bands.start(size);
            for (const QColor color : {QColor(200, 10, 30), QColor(0, 114, 178), QColor(250, 250, 250)}) {
                bands.startBand(color);
                for (int left = -3; left < size.width() + 3; left += 3) {
                    const int top = static_cast<int>(random() % 80) - 20;
                    const QRect column(left, top, random() % 4 == 0 ? 2 : 3, 1 + static_cast<int>(random() % 40));
                    bands.addColumn(column);
                    const QRect seen = column & expected.rect();
                    for (int y = seen.top(); y <= seen.bottom(); ++y) {
                        for (int x = seen.left(); x <= seen.right(); ++x) {
                            expected.setPixelColor(x, y, color);
                        }
                    }
                }
            }
            QImage painted(size, QImage::Format_ARGB32_Premultiplied);
            painted.fill(Qt::transparent);
            QPainter painter(&painted);
            painter.drawImage(bands.rows().topLeft(), bands.paint(), bands.rows());
            painter.end();
            QCOMPARE(painted, expected);
        }
    }
};

QTEST_GUILESS_MAIN(TstCurveDrawing)
#include "tst_curve_drawing.moc"
