/// Every op on every available backend against exact results, in every format, over sizes with tails and over data
/// with subnormals, overflow, infinities and NaN. A backend that lacks an op fails.
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/graph/op_def.h"
#include "tests/support/op_verdict.h"

#include <QTest>

#include <fmt/format.h>

#include <cmath>
#include <limits>

using namespace mantissa;
using namespace mantissa::test;

namespace {

std::optional<std::string> firstComplaint(const OpCase& opCase, const std::vector<DeviceInfo>& devices)
{
    const Verdict verdict(opCase);
    for (const DeviceInfo& device : devices) {
        const OpResult result = runOp(backendByName(device.backend), opCase.call);
        const auto complaint = verdict.complaintAbout(result, device);
        if (complaint.has_value()) {
            return device.backend + ": " + *complaint;
        }
    }
    return std::nullopt;
}

std::vector<DeviceInfo> availableDevices()
{
    std::vector<DeviceInfo> out;
    for (const DeviceInfo& device : listDevices()) {
        if (device.available.ok) {
            out.push_back(device);
        }
    }
    return out;
}

} // namespace

class TstOpBackends : public QObject
{
    Q_OBJECT

private slots:
    void agreesWithExactResults_data();
    void agreesWithExactResults();

    void referenceRoundsExactResultsOnce_data() { agreesWithExactResults_data(); }

    void referenceRoundsExactResultsOnce();
    void isBitIdenticalOnRepetition_data();
    void isBitIdenticalOnRepetition();
    void memoryIsAlignedAndItsEndIsAnError_data();
    void memoryIsAlignedAndItsEndIsAnError();

    void streamsMoveBytes_data() { memoryIsAlignedAndItsEndIsAnError_data(); }

    void streamsMoveBytes();

    void refusesIntegersWhereNumbersBelong_data() { memoryIsAlignedAndItsEndIsAnError_data(); }

    void refusesIntegersWhereNumbersBelong();
    void namesEveryDeviceAndTheReasonForAbsence();
};

void TstOpBackends::agreesWithExactResults_data()
{
    QTest::addColumn<int>("op");
    QTest::addColumn<int>("dtype");
    for (const OpDef& def : allOps()) {
        for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16}) {
            QTest::addRow("%s %s", std::string(def.name).c_str(), std::string(nameOf(dtype)).c_str())
                << static_cast<int>(def.op) << static_cast<int>(dtype);
        }
    }
}

void TstOpBackends::agreesWithExactResults()
{
    QFETCH(int, op);
    QFETCH(int, dtype);
    RandomValues random(static_cast<std::uint64_t>(op * 16 + dtype));
    const std::vector<DeviceInfo> devices = availableDevices();
    for (const std::int64_t size : caseSizes) {
        for (const Fill fill : {Fill::Plain, Fill::Wide, Fill::Special}) {
            for (const OpCase& opCase : casesOf(static_cast<Op>(op), {static_cast<DType>(dtype), size, fill}, random)) {
                const auto complaint = firstComplaint(opCase, devices);
                QVERIFY2(!complaint.has_value(),
                    fmt::format("size {}, {}, {}, {}; {}", size, nameOf(fill), opCase.name, complaint.value_or(""),
                        RandomValues::seedText())
                        .c_str());
            }
        }
    }
}

void TstOpBackends::referenceRoundsExactResultsOnce()
{
    QFETCH(int, op);
    QFETCH(int, dtype);
    RandomValues random(static_cast<std::uint64_t>(4096 + op * 16 + dtype));
    Backend& backend = backendByName("reference");
    for (const Fill fill : {Fill::Plain, Fill::Wide, Fill::Special}) {
        for (const OpCase& opCase : casesOf(static_cast<Op>(op), {static_cast<DType>(dtype), 33, fill}, random)) {
            const OpResult result = runOp(backend, opCase.call);
            const std::vector<HostTensor> exact = exactOutputs(opCase.call);
            for (std::size_t output = 0; output < exact.size(); ++output) {
                const HostTensor& stored = result.outputs[output];
                for (std::int64_t i = 0; i < stored.size() && !opCase.rules[output].derived; ++i) {
                    QVERIFY2((Expectation {exact[output].at(i), 0}.accepts(stored.dtype(), stored.at(i))),
                        (opCase.name + "; " + RandomValues::seedText()).c_str());
                }
            }
        }
    }
}

void TstOpBackends::isBitIdenticalOnRepetition_data()
{
    QTest::addColumn<QString>("backend");
    QTest::addColumn<int>("threads");
    for (const DeviceInfo& device : availableDevices()) {
        for (const int threads : {1, 2}) {
            QTest::addRow("%s, %d threads", device.backend.c_str(), threads)
                << QString::fromStdString(device.backend) << threads;
        }
    }
}

void TstOpBackends::isBitIdenticalOnRepetition()
{
    QFETCH(QString, backend);
    QFETCH(int, threads);
    RandomValues random(99);
    Backend& device = backendByName(backend.toStdString());
    for (const OpDef& def : allOps()) {
        for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16}) {
            for (OpCase& opCase : casesOf(def.op, {dtype, 1000, Fill::Wide}, random)) {
                opCase.call.threads = threads;
                const OpResult first = runOp(device, opCase.call);
                const OpResult second = runOp(device, opCase.call);
                const std::string where = std::string(def.name) + " " + opCase.name + "; " + RandomValues::seedText();
                QVERIFY2(first.outputs == second.outputs, where.c_str());
                QVERIFY2(first.census == second.census && first.histogram == second.histogram, where.c_str());
            }
        }
    }
}

void TstOpBackends::memoryIsAlignedAndItsEndIsAnError_data()
{
    QTest::addColumn<QString>("backend");
    for (const DeviceInfo& device : availableDevices()) {
        QTest::addRow("%s", device.backend.c_str()) << QString::fromStdString(device.backend);
    }
}

void TstOpBackends::memoryIsAlignedAndItsEndIsAnError()
{
    QFETCH(QString, backend);
    Backend& device = backendByName(backend.toStdString());
    for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 1000003U}) {
        const auto buffer = device.allocate(bytes);
        QVERIFY(buffer->data() != nullptr);
        QCOMPARE(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, std::uintptr_t {0});
        QCOMPARE(buffer->bytes(), bytes);
    }
    try {
        device.allocate(std::numeric_limits<std::size_t>::max() - 100);
        QFAIL("allocating the whole address space must fail");
    } catch (const Error& error) {
        QVERIFY(error.code() == ErrorCode::OutOfMemory);
        QVERIFY(std::string_view(error.what()).size() > 20);
    }
}

void TstOpBackends::streamsMoveBytes()
{
    QFETCH(QString, backend);
    Backend& device = backendByName(backend.toStdString());
    const auto stream = device.createStream(1);
    const std::vector<std::uint8_t> sent {1, 2, 3, 4, 5, 6, 7};
    std::vector<std::uint8_t> received(sent.size(), 99);
    const auto first = device.allocate(sent.size());
    const auto second = device.allocate(sent.size());
    stream->upload(first->data(), sent.data(), sent.size());
    stream->copy(second->data(), first->data(), sent.size());
    stream->fillZero(static_cast<std::byte*>(second->data()) + 2, 3);
    stream->download(received.data(), second->data(), sent.size());
    stream->synchronize();
    QCOMPARE(received, (std::vector<std::uint8_t> {1, 2, 0, 0, 0, 6, 7}));
}

void TstOpBackends::refusesIntegersWhereNumbersBelong()
{
    QFETCH(QString, backend);
    const TensorType integers {DType::Int32, Shape {4, 4}};
    try {
        backendByName(backend.toStdString())
            .prepare({Op::MatMul, MatMulAttributes {}, {integers, integers}, {integers}, 1});
        QFAIL("a product of integers must be refused");
    } catch (const Error& error) {
        QVERIFY(error.code() == ErrorCode::UnsupportedDtype);
        QVERIFY(std::string_view(error.what()).find("matmul") != std::string_view::npos);
        QVERIFY(std::string_view(error.what()).find("int32") != std::string_view::npos);
    }
}

void TstOpBackends::namesEveryDeviceAndTheReasonForAbsence()
{
    const auto devices = listDevices();
    for (const char* const name : {"cpu", "cuda", "reference"}) {
        QVERIFY(std::any_of(devices.begin(), devices.end(), [&](const DeviceInfo& d) { return d.backend == name; }));
    }
    for (const DeviceInfo& device : devices) {
        QVERIFY(!device.name.empty());
        if (device.available.ok) {
            QCOMPARE(backendByName(device.backend).device().backend, device.backend);
            continue;
        }
        try {
            backendByName(device.backend);
            QFAIL("an unavailable device must not be handed out");
        } catch (const Error& error) {
            QVERIFY(error.code() == ErrorCode::BackendUnavailable);
            QVERIFY(std::string(error.what()).find(device.available.reason) != std::string::npos);
        }
    }
    QVERIFY(&backendByName("auto") == &backendByName(availableDevices().front().backend));
    try {
        backendByName("gpu");
        QFAIL("an unknown device must not be handed out");
    } catch (const Error& error) {
        QVERIFY(std::string(error.what()).find("Available: auto, ") != std::string::npos);
    }
}

QTEST_APPLESS_MAIN(TstOpBackends)
#include "tst_op_backends.moc"
