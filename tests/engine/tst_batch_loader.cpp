// What the loader gives depends on the batch source alone, however it is queued, delayed, restarted or left.
#include "engine/data/batch_loader.h"

#include <QtTest>

#include <numeric>
#include <thread>

using namespace mantissa;

namespace {

/// Sample i is the number i, with label i mod 3.
std::shared_ptr<const Dataset> numbers(std::int64_t samples)
{
    Dataset data;
    data.sampleShape = {1};
    data.samples = samples;
    data.features = 1;
    data.classes = 3;
    for (std::int64_t i = 0; i < samples; ++i) {
        data.inputs.push_back(static_cast<float>(i));
        data.labels.push_back(static_cast<std::int32_t>(i % 3));
    }
    data.train.resize(static_cast<std::size_t>(samples));
    std::iota(data.train.begin(), data.train.end(), 0U);
    return std::make_shared<const Dataset>(std::move(data));
}

BatchLoader loaderOf(const std::shared_ptr<const Dataset>& data, LoaderOptions options, std::int64_t microBatches = 2)
{
    return {data, BatchSource(data->train, 4, microBatches, 7), microBatches, options};
}

} // namespace

class TestBatchLoader : public QObject
{
    Q_OBJECT

private slots:

    void givesWhatTheSourceDraws_data()
    {
        QTest::addColumn<qint64>("queue");
        QTest::addColumn<double>("throttleMs");
        QTest::newRow("no thread") << qint64 {0} << 0.0;
        QTest::newRow("one") << qint64 {1} << 0.0;
        QTest::newRow("two") << qint64 {2} << 0.0;
        QTest::newRow("many") << qint64 {9} << 0.0;
        QTest::newRow("slow") << qint64 {2} << 0.5;
        QTest::newRow("slow without a thread") << qint64 {0} << 0.5;
    }

    void givesWhatTheSourceDraws()
    {
        QFETCH(const qint64, queue);
        QFETCH(const double, throttleMs);
        const auto data = numbers(30); // an epoch is less than four steps
        BatchSource source(data->train, 4, 2, 7);
        BatchLoader loader = loaderOf(data, {.queue = queue, .throttleMs = throttleMs});
        for (std::int64_t step = 0; step < 60; ++step) {
            for (std::int64_t micro = 0; micro < 2; ++micro) {
                const auto indices = source.next(step, micro);
                const Batch& batch = loader.next(step, micro);
                QCOMPARE(batch.inputs, std::vector<float>(indices.begin(), indices.end()));
                QCOMPARE(batch.labels[3], static_cast<std::int32_t>(indices[3] % 3));
                QCOMPARE(loader.fingerprint(), source.fingerprint());
                QVERIFY(loader.ready() >= 0 && loader.ready() <= queue);
            }
        }
    }

    void showsTheNextBatchAheadOfTime()
    {
        const auto data = numbers(30);
        BatchLoader loader = loaderOf(data, {.queue = 2});
        QVERIFY(loader.ahead() == nullptr); // nobody has asked yet
        for (std::int64_t step = 0; step < 40; ++step) {
            loader.next(step, 0);
            const std::uint64_t fingerprint = loader.fingerprint();
            while (loader.ready() == 0) {
                std::this_thread::yield();
            }
            const Batch* const ahead = loader.ahead();
            QVERIFY(ahead != nullptr && loader.fingerprint() == fingerprint);
            const Batch expected = *ahead;
            const Batch& next = loader.next(step, 1);
            QVERIFY(&next == ahead && next.inputs == expected.inputs && next.fingerprint == expected.fingerprint);
        }
        BatchLoader unqueued = loaderOf(data, {.queue = 0});
        unqueued.next(0, 0);
        QVERIFY(unqueued.ahead() == nullptr);
    }

    void aJumpRestartsTheQueue()
    {
        const auto data = numbers(30);
        BatchSource source(data->train, 4, 2, 7);
        BatchLoader loader = loaderOf(data, {.queue = 3});
        for (const std::int64_t step : {0, 1, 7, 8, 2}) {
            const auto indices = source.next(step, 0);
            QCOMPARE(loader.next(step, 0).inputs, std::vector<float>(indices.begin(), indices.end()));
            QCOMPARE(loader.fingerprint(), source.fingerprint());
        }
    }

    void aFingerprintIsTakenUp()
    {
        const auto data = numbers(30);
        BatchSource source(data->train, 4, 2, 7);
        source.next(0, 0);
        source.next(0, 1);
        BatchLoader resumed = loaderOf(data, {.queue = 2});
        resumed.restoreFingerprint(source.fingerprint());
        source.next(1, 0);
        resumed.next(1, 0);
        QCOMPARE(resumed.fingerprint(), source.fingerprint());
    }

    void theQueueFillsWhileNobodyAsks()
    {
        const auto data = numbers(30);
        BatchLoader loader = loaderOf(data, {.queue = 5});
        QCOMPARE(loader.ready(), std::int64_t {0}); // it does not know yet where to begin
        loader.next(0, 0);
        // Five, of which this next() may have taken one: a queue is filled up again once half of it is gone.
        QTRY_VERIFY(loader.ready() >= 4);
        loader.next(0, 1);
        loader.next(1, 0);
        loader.next(1, 1);
        QTRY_VERIFY(loader.ready() >= 4);
    }

    void targetsAndTokens()
    {
        Dataset data;
        data.samples = 5;
        data.features = 3;
        data.tokenStride = 2; // overlapping windows
        data.vocabulary = 11;
        data.classes = 11;
        data.labelsTokens = true;
        for (int i = 0; i < 11; ++i) {
            data.tokens.push_back(i);
            data.labels.push_back(i == 6 ? ignoredLabel : 10 - i);
        }
        Batch batch(data, 2, true);
        batch.fill(data, std::vector<std::uint32_t> {4, 1});
        QCOMPARE(batch.tokens, (std::vector<std::int32_t> {8, 9, 10, 2, 3, 4}));
        QCOMPARE(batch.labels, (std::vector<std::int32_t> {2, 1, 0, 8, 7, 6}));
        QCOMPARE(batch.samples().size(), std::size_t {6} * 4);
        QCOMPARE(batch.answers().size(), std::size_t {6} * 4);
        QVERIFY(batch.inputs.empty() && batch.targets.empty());
        batch.fill(data, std::vector<std::uint32_t> {2, 3});
        QCOMPARE(batch.labels[2], ignoredLabel);
    }
};

QTEST_APPLESS_MAIN(TestBatchLoader)
#include "tst_batch_loader.moc"
