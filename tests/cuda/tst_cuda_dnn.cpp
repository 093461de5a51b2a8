/// Convolutions through cuDNN, on what stands in for it: the same results as everywhere, and own kernels where it is
/// missing or lacks what is asked for.
#include "engine/backends/cuda/cuda_backend.h"
#include "engine/core/error.h"
#include "engine/graph/op_def.h"
#include "tests/cuda/lane_cases.h"
#include "tests/cuda/on_host.h"
#include "tests/support/op_verdict.h"

#include <QTest>

#include <array>
#include <set>

using namespace mantissa;
using namespace mantissa::test;
using host_layer::callsOf;

namespace {

constexpr std::array convolutions {Op::Conv2d, Op::Conv2dInputGrad, Op::Conv2dWeightGrad};

json smallCnn(const char* precision)
{
    return mlp({precision, R"({"model": {"kind": "cnn", "width": 4, "hidden": [8], "stages": 2}})"});
}

} // namespace

class TstCudaDnn : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void cleanup();
    void agreesWithExactResults_data();
    void agreesWithExactResults();
    void stepsAsTheCpuDoes_data();
    void stepsAsTheCpuDoes();
    void saysThatItIsMissing();
    void doesWithoutWhatItLacks();
    void everyFailedCallIsAnError();
};

void TstCudaDnn::initTestCase()
{
    useCudaOnHost(MANTISSA_CUDNN_ON_HOST);
}

void TstCudaDnn::init()
{
    useCudaOnHost(MANTISSA_CUDNN_ON_HOST);
}

void TstCudaDnn::cleanup()
{
    QVERIFY2(host_layer::lastFault().empty(), host_layer::lastFault().c_str());
    host_layer::reset();
}

void TstCudaDnn::agreesWithExactResults_data()
{
    QTest::addColumn<int>("op");
    QTest::addColumn<int>("dtype");
    for (const Op op : convolutions) {
        for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16}) {
            QTest::addRow("%s %s", std::string(opDef(op).name).c_str(), std::string(mantissa::nameOf(dtype)).c_str())
                << static_cast<int>(op) << static_cast<int>(dtype);
        }
    }
}

void TstCudaDnn::agreesWithExactResults()
{
    QFETCH(int, op);
    QFETCH(int, dtype);
    const auto backend = cuda::makeCudaBackend();
    QVERIFY2(backend->device().instructionSet.find("cuDNN 9.") != std::string::npos,
        backend->device().instructionSet.c_str());
    QVERIFY(backend->device().note.empty());
    RandomValues random(static_cast<std::uint64_t>(op * 16 + dtype));
    for (const Fill fill : {Fill::Plain, Fill::Wide, Fill::Special}) {
        for (const OpCase& opCase : casesOf(static_cast<Op>(op), {static_cast<DType>(dtype), 33, fill}, random)) {
            std::optional<OpResult> first;
            for (const Schedule& schedule : schedules) {
                schedule.set();
                OpResult result = runOp(*backend, opCase.call);
                if (!first) {
                    first = std::move(result);
                    continue;
                }
                QVERIFY2(result.outputs == first->outputs && result.census == first->census, schedule.name);
            }
            const auto complaint = Verdict(opCase).complaintAbout(*first, backend->device());
            QVERIFY2(!complaint.has_value(), (opCase.name + ": " + complaint.value_or("")).c_str());
        }
    }
    QVERIFY(callsOf("cudnnConvolutionForward") + callsOf("cudnnConvolutionBackwardData")
            + callsOf("cudnnConvolutionBackwardFilter")
        > 0);
}

void TstCudaDnn::stepsAsTheCpuDoes_data()
{
    QTest::addColumn<QByteArray>("document");
    QTest::addColumn<double>("tolerance");
    for (const LaneCase& laneCase : laneCases()) {
        const std::string kind = laneCase.document["model"]["kind"];
        if (kind == "cnn" || kind == "resnet" || kind == "vit") {
            QTest::newRow(laneCase.name) << QByteArray::fromStdString(laneCase.document.dump()) << laneCase.tolerance;
        }
    }
}

void TstCudaDnn::stepsAsTheCpuDoes()
{
    QFETCH(QByteArray, document);
    QFETCH(double, tolerance);
    schedules[1].set();
    const auto complaint = complaintAbout({"", tolerance, json::parse(document.toStdString())});
    QVERIFY2(!complaint.has_value(), complaint.value_or("").c_str());
    QVERIFY(callsOf("cudnnConvolutionForward") > 0 && callsOf("cudnnConvolutionBackwardFilter") > 0);
}

void TstCudaDnn::saysThatItIsMissing()
{
    useCudaOnHost("/nowhere/libcudnn.so.9");
    const DeviceInfo without = cuda::makeCudaBackend()->device();
    QVERIFY(without.available.ok);
    QVERIFY2(without.note.find("cuDNN missing (/nowhere/libcudnn.so.9)") != std::string::npos, without.note.c_str());
    QVERIFY(without.instructionSet.find("cuDNN") == std::string::npos);
    useCudaOnHost(MANTISSA_CUDA_ON_HOST); // a library, but not this one
    const DeviceInfo strange = cuda::makeCudaBackend()->device();
    QVERIFY2(strange.available.ok && strange.note.find("has no cudnn") != std::string::npos, strange.note.c_str());
    useCudaOnHost(MANTISSA_CUDNN_ON_HOST);
    host_layer::failOnce("cudnnCreate");
    const DeviceInfo broken = cuda::makeCudaBackend()->device();
    QVERIFY2(broken.available.ok && broken.note.find("could not be started") != std::string::npos, broken.note.c_str());
}

/// A convolution that cuDNN does not have is computed all the same.
void TstCudaDnn::doesWithoutWhatItLacks()
{
    const auto backend = cuda::makeCudaBackend();
    RandomValues random(3);
    for (const OpCase& opCase : casesOf(Op::Conv2d, {DType::Float32, 33, Fill::Plain}, random)) {
        host_layer::failOnce("cudnnGetConvolutionForwardWorkspaceSize");
        const auto complaint = Verdict(opCase).complaintAbout(runOp(*backend, opCase.call), backend->device());
        QVERIFY2(!complaint.has_value(), (opCase.name + ": " + complaint.value_or("")).c_str());
    }
    QCOMPARE(callsOf("cudnnConvolutionForward"), std::uint64_t {0});
}

void TstCudaDnn::everyFailedCallIsAnError()
{
    static_cast<void>(backendByName("cuda"));
    for (const char* const call :
        {"cudnnCreate", "cudnnSetStream", "cudnnCreateTensorDescriptor", "cudnnSetTensor4dDescriptorEx",
            "cudnnCreateFilterDescriptor", "cudnnSetFilter4dDescriptor", "cudnnCreateConvolutionDescriptor",
            "cudnnSetConvolution2dDescriptor", "cudnnSetConvolutionGroupCount", "cudnnSetConvolutionMathType",
            "cudnnConvolutionForward", "cudnnConvolutionBackwardData", "cudnnConvolutionBackwardFilter"}) {
        host_layer::failOnce(call);
        bool hasFailed = false;
        try {
            laneOn("cuda", smallCnn(fp16))->step();
        } catch (const Error& error) {
            const bool isOfDevice = error.code() == ErrorCode::BackendFailure || error.code() == ErrorCode::OutOfMemory;
            QVERIFY2(isOfDevice && std::string_view(error.what()).find("cuDNN could not") == 0, error.what());
            hasFailed = true;
        }
        QVERIFY2(hasFailed, call);
        host_layer::reset();
    }
    laneOn("cuda", smallCnn(fp16))->step(); // and afterwards all is as before
}

QTEST_APPLESS_MAIN(TstCudaDnn)
#include "tst_cuda_dnn.moc"
