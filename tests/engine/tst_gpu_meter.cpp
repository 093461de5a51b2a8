// What the driver's library tells, and that a machine without one, or with one too old, is told so.
#include "engine/probe/gpu_meter.h"

#include <QtTest>

using namespace mantissa;

class tst_gpu_meter : public QObject
{
    Q_OBJECT

private slots:

    void itReadsWhatTheDriverTells()
    {
        GpuMeter meter(std::chrono::milliseconds(1), MANTISSA_FAKE_NVML);
        meter.setResting(false);
        QTRY_VERIFY(meter.latest() != nullptr);
        const auto report = meter.latest();
        QVERIFY2(report->available.ok, report->available.reason.c_str());
        QCOMPARE(report->gpus.size(), 2U);
        QCOMPARE(report->gpus[0].name, std::string("Fake GPU"));
        QVERIFY(report->gpus[0].busyPercent >= 40U && report->gpus[0].busyPercent < 100U);
        QCOMPARE(report->gpus[0].usedBytes, std::uint64_t {1} << 30U);
        QCOMPARE(report->gpus[0].totalBytes, std::uint64_t {16} << 30U);
        QCOMPARE(report->gpus[1].name, std::string("GPU 1"));
        QVERIFY(!report->gpus[1].busyPercent);
        QCOMPARE(report->gpus[1].usedBytes, std::uint64_t {2} << 30U);
        QTRY_VERIFY(meter.latest() != report); // it goes on asking
    }

    void itAsksNothingWhileItRests()
    {
        GpuMeter meter(std::chrono::milliseconds(1), MANTISSA_FAKE_NVML);
        QTest::qWait(30);
        QVERIFY(meter.latest() == nullptr);
        meter.setResting(false);
        QTRY_VERIFY(meter.latest() != nullptr);
        meter.setResting(true);
        QTest::qWait(30); // an answer may have been on its way
        const auto last = meter.latest();
        QTest::qWait(30);
        QVERIFY(meter.latest() == last);
    }

    void aMachineWithoutADriverIsToldSo()
    {
        GpuMeter meter(std::chrono::milliseconds(1), "libno-such-driver.so.1");
        meter.setResting(false);
        QTRY_VERIFY(meter.latest() != nullptr);
        QVERIFY(!meter.latest()->available.ok);
        QVERIFY(meter.latest()->available.reason.find("libno-such-driver.so.1") != std::string::npos);
    }

    void aLibraryThatLacksFunctionsIsTooOld()
    {
        GpuMeter meter(std::chrono::milliseconds(1), "libm.so.6");
        meter.setResting(false);
        QTRY_VERIFY(meter.latest() != nullptr);
        QVERIFY(!meter.latest()->available.ok);
        QVERIFY(meter.latest()->available.reason.find("nvmlInit_v2") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(tst_gpu_meter)
#include "tst_gpu_meter.moc"
