/// Why CUDA can or cannot be used, in words; and the loading of the plug-in.
#include "engine/backends/cuda/cuda_backend.h"
#include "engine/backends/plugin_abi.h"
#include "engine/backends/plugin_loader.h"
#include "engine/graph/op_def.h"
#include "tests/cuda/on_host.h"
#include "tests/support/op_verdict.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <set>

using namespace mantissa;
using namespace mantissa::test;
using host_layer::Device;

extern "C" Backend* mantissaPluginBackend(int abi);

namespace {

bool contains(const std::string& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

DeviceInfo deviceOf(const Device& device)
{
    host_layer::setDevice(device);
    return cuda::makeCudaBackend()->device();
}

} // namespace

class TstCudaDevice : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void cleanup();
    void saysWhyItCannotBeUsed_data();
    void saysWhyItCannotBeUsed();
    void saysWhichLibraryFails();
    void describesItself();
    void computesBFloat16WithoutUnits();
    void saysWhyAPluginCannotBeLoaded();
    void refusesAnotherAbi();
};

void TstCudaDevice::initTestCase()
{
    useCudaOnHost();
}

void TstCudaDevice::cleanup()
{
    host_layer::reset();
}

void TstCudaDevice::saysWhyItCannotBeUsed_data()
{
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("driver");
    QTest::addColumn<int>("capability");
    QTest::addColumn<QString>("words");
    QTest::newRow("no driver") << 0 << 0 << 80 << "There is no NVIDIA driver";
    QTest::newRow("old driver") << 1 << 11020 << 80 << "driver is too old: it knows CUDA 11.2";
    QTest::newRow("no GPU") << 0 << 13000 << 80 << "shows no GPU";
    QTest::newRow("old GPU") << 1 << 13000 << 61 << "compute capability 6.1, and 7.5 is needed";
}

void TstCudaDevice::saysWhyItCannotBeUsed()
{
    QFETCH(int, count);
    QFETCH(int, driver);
    QFETCH(int, capability);
    QFETCH(QString, words);
    const DeviceInfo info
        = deviceOf({.count = count, .driverVersion = driver, .major = capability / 10, .minor = capability % 10});
    QVERIFY(!info.available.ok);
    QVERIFY2(contains(info.available.reason, words.toStdString()), info.available.reason.c_str());
    QCOMPARE(info.backend, std::string("cuda"));
}

void TstCudaDevice::saysWhichLibraryFails()
{
    QVERIFY(deviceOf({}).available.ok);
    const std::uint64_t calls = host_layer::callCount();
    std::set<std::string> failed;
    for (std::uint64_t call = 0; call < calls; ++call) {
        host_layer::reset();
        host_layer::failFrom(call);
        const DeviceInfo info = deviceOf({});
        failed.insert(host_layer::failedCall());
        static const std::set<std::string> harmless {"cudaRuntimeGetVersion", "cudaFree", "cudaStreamDestroy"};
        const bool isHarmless = harmless.contains(host_layer::failedCall());
        QVERIFY2(isHarmless || !info.available.ok, host_layer::failedCall().c_str());
        QVERIFY2(info.available.ok || info.available.reason.size() > 30, info.available.reason.c_str());
    }
    for (const char* call : {"cublasLtCreate", "cudaGetDeviceProperties", "cudaLaunchKernelEx", "cudaMalloc"}) {
        QVERIFY2(failed.contains(call), call);
    }
}

void TstCudaDevice::describesItself()
{
    const DeviceInfo ampere = deviceOf({});
    QVERIFY2(contains(ampere.name, "Host layer (compute capability 8.0, CUDA 13.0)"), ampere.name.c_str());
    QVERIFY(ampere.bf16 == FormatSupport::Native && ampere.fp16 == FormatSupport::Native);
    QVERIFY2(contains(ampere.instructionSet, "sm_80, cuBLASLt"), ampere.instructionSet.c_str());
    QVERIFY2(
        ampere.note == "Convolutions use own kernels, which are slower: cuDNN missing (none).", ampere.note.c_str());
    const DeviceInfo turing = deviceOf({.major = 7, .minor = 5});
    QVERIFY(turing.available.ok && turing.bf16 == FormatSupport::Emulated);
    QVERIFY2(contains(turing.note, "too old for BF16"), turing.note.c_str());
}

void TstCudaDevice::computesBFloat16WithoutUnits()
{
    host_layer::setDevice({.major = 7, .minor = 5});
    const auto backend = cuda::makeCudaBackend();
    RandomValues random(7);
    for (const Op op : {Op::Linear, Op::MatMul}) {
        for (const OpCase& opCase : casesOf(op, {DType::BFloat16, 33, Fill::Special}, random)) {
            const auto complaint = Verdict(opCase).complaintAbout(runOp(*backend, opCase.call), backend->device());
            QVERIFY2(!complaint.has_value(), (opCase.name + ": " + complaint.value_or("")).c_str());
        }
    }
}

void TstCudaDevice::saysWhyAPluginCannotBeLoaded()
{
    const QTemporaryDir folder;
    const std::string text = folder.filePath("text.so").toStdString();
    std::ofstream(text) << "no library";
    const auto reasonOf = [](const std::string& file) {
        const LoadedPlugin plugin = loadPlugin(file);
        return plugin.backend == nullptr ? plugin.reason : std::string("it was loaded");
    };
    QVERIFY2(contains(reasonOf(folder.filePath("none.so").toStdString()), "There is no CUDA plug-in"), "none");
    QVERIFY2(contains(reasonOf(text), "could not be loaded"), reasonOf(text).c_str());
    QVERIFY2(contains(reasonOf(MANTISSA_STRANGE_PLUGIN), "lacks mantissaPluginBackend"),
        reasonOf(MANTISSA_STRANGE_PLUGIN).c_str());
    QVERIFY2(contains(reasonOf(MANTISSA_ORPHAN_PLUGIN), "needs the library libmantissa_absent.so"),
        reasonOf(MANTISSA_ORPHAN_PLUGIN).c_str());
    QVERIFY(loadPlugin(MANTISSA_CUDA_ON_HOST).backend != nullptr);
}

void TstCudaDevice::refusesAnotherAbi()
{
    QVERIFY(mantissaPluginBackend(pluginAbi + 1) == nullptr);
    QVERIFY(mantissaPluginBackend(pluginAbi) != nullptr);
}

QTEST_APPLESS_MAIN(TstCudaDevice)
#include "tst_cuda_device.moc"
