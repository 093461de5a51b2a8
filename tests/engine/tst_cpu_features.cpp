/// Which instruction set is used: by the machine, by MANTISSA_CPU_ISA and by a test's own choice.
#include "engine/core/cpu_features.h"
#include "engine/core/error.h"

#include <QtTest>

using namespace mantissa;

namespace {

constexpr CpuIsa levels[] = {CpuIsa::Baseline, CpuIsa::Avx2, CpuIsa::Avx512, CpuIsa::Avx512Bf16};

QString refusalOf(std::string_view requested, CpuIsa detected)
{
    try {
        selectCpuIsa(requested, detected);
    } catch (const Error& error) {
        return error.code() == ErrorCode::InvalidArgument ? QString::fromUtf8(error.what()) : QString();
    }
    return {};
}

} // namespace

class TestCpuFeatures : public QObject
{
    Q_OBJECT

private slots:
    void environmentLowersTheLevel();
    void namesLevels();
    void selectsAtMostWhatTheMachineHas();
    void explainsRefusals();
    void scopedLevelsNest();
    void refusesToForceMoreThanTheMachineHas();
};

void TestCpuFeatures::environmentLowersTheLevel()
{
    qputenv("MANTISSA_CPU_ISA", "basline"); // first, as a value that was accepted is kept
    QVERIFY_THROWS_EXCEPTION(Error, cpuIsa());
    qputenv("MANTISSA_CPU_ISA", "baseline");
    QCOMPARE(cpuIsa(), CpuIsa::Baseline);
    qunsetenv("MANTISSA_CPU_ISA");
    QCOMPARE(cpuIsa(), CpuIsa::Baseline);
}

void TestCpuFeatures::namesLevels()
{
    for (const CpuIsa level : levels) {
        QCOMPARE(cpuIsaFromName(nameOf(level)), std::optional(level));
    }
    QVERIFY(!cpuIsaFromName("AVX2"));
    QVERIFY(!cpuIsaFromName(""));
}

void TestCpuFeatures::selectsAtMostWhatTheMachineHas()
{
    for (const CpuIsa detected : levels) {
        QCOMPARE(selectCpuIsa("", detected), detected);
        for (const CpuIsa requested : levels) {
            if (requested <= detected) {
                QCOMPARE(selectCpuIsa(nameOf(requested), detected), requested);
            } else {
                QVERIFY(!refusalOf(nameOf(requested), detected).isEmpty());
            }
        }
    }
}

void TestCpuFeatures::explainsRefusals()
{
    QCOMPARE(refusalOf("avx512", CpuIsa::Avx2),
        QStringLiteral("MANTISSA_CPU_ISA=avx512 asks for more than this CPU has; use one of baseline, avx2, or unset "
                       "it."));
    QCOMPARE(refusalOf("sse9", CpuIsa::Avx512),
        QStringLiteral("MANTISSA_CPU_ISA=sse9 names no instruction set; use one of baseline, avx2, avx512, or unset "
                       "it."));
}

void TestCpuFeatures::scopedLevelsNest()
{
    const CpuIsa before = cpuIsa();
    {
        const ScopedCpuIsa outer(detectedCpuIsa());
        QCOMPARE(cpuIsa(), detectedCpuIsa());
        {
            const ScopedCpuIsa inner(CpuIsa::Baseline);
            QCOMPARE(cpuIsa(), CpuIsa::Baseline);
        }
        QCOMPARE(cpuIsa(), detectedCpuIsa());
    }
    QCOMPARE(cpuIsa(), before);
}

void TestCpuFeatures::refusesToForceMoreThanTheMachineHas()
{
    for (const CpuIsa level : levels) {
        if (level <= detectedCpuIsa()) {
            const ScopedCpuIsa forced(level);
            QCOMPARE(cpuIsa(), level);
        } else {
            QVERIFY_THROWS_EXCEPTION(Error, ScopedCpuIsa {level});
        }
    }
}

QTEST_APPLESS_MAIN(TestCpuFeatures)
#include "tst_cpu_features.moc"
