/// The layer that stands in for a GPU: it must show the mistakes that kernels make.
#include "tests/cuda/host_layer/host_layer.h"

#include <QTest>

#include <cuda_runtime.h>

#include <cmath>
#include <vector>

using namespace mantissa::host_layer;

namespace {

constexpr int threads = 96;

int self()
{
    return static_cast<int>(threadIdx.x);
}

/// Each thread reads what its neighbour in another warp wrote.
void neighbours(float* out, bool hasBarrier)
{
    SHARED_ARRAY(float, values, threads);
    values[self()] = static_cast<float>(self());
    if (hasBarrier) {
        __syncthreads();
    }
    out[self()] = values[(self() + 40) % threads];
}

void halfBarrier()
{
    if (self() < 64) {
        __syncthreads();
    }
}

void barrierInTwoPlaces()
{
    if (self() < 64) {
        __syncthreads();
    } else {
        __syncthreads();
    }
}

void shuffleOfSome()
{
    if (self() % 2 == 0) {
        __shfl_xor_sync(0xffffffffU, 1.0F, 1);
    }
}

void narrowMask()
{
    __shfl_xor_sync(0xffffU, 1.0F, 1);
}

void pastTheEnd()
{
    SHARED_ARRAY(float, values, threads);
    float* const from = values; // what the compiler knows the size of, UBSan would check itself
    from[self() + 1] = 1;
}

void unwritten(float* out)
{
    SHARED_ARRAY(float, values, threads);
    out[self()] = values[self()];
}

void warpSums(float* out)
{
    float sum = static_cast<float>(self());
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, distance);
    }
    out[self()] = sum;
}

template <typename... Parameters, typename... Arguments>
cudaError_t run(void (*kernel)(Parameters...), cudaStream_t stream, Arguments... arguments)
{
    cudaLaunchConfig_t config {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(threads);
    config.stream = stream;
    const cudaError_t status = cudaLaunchKernelEx(&config, kernel, arguments...);
    return status != cudaSuccess ? status : cudaStreamSynchronize(stream);
}

} // namespace

class TstHostLayer : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void aMissingBarrierShowsInSomeOrder();
    void mistakesAreFaults_data();
    void mistakesAreFaults();
    void memoryStartsAsNaN();
    void shufflesAddUp();
    void lazyStreamsRunWhenWaitedFor();
    void wrongCallsAreRefused();

private:
    cudaStream_t m_stream = nullptr;
    float* m_memory = nullptr;
};

void TstHostLayer::init()
{
    reset();
    QVERIFY(cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking) == cudaSuccess);
    QVERIFY(cudaMalloc(reinterpret_cast<void**>(&m_memory), threads * sizeof(float)) == cudaSuccess);
}

void TstHostLayer::cleanup()
{
    cudaFree(m_memory);
    cudaStreamDestroy(m_stream);
    reset();
}

void TstHostLayer::aMissingBarrierShowsInSomeOrder()
{
    for (const bool hasBarrier : {true, false}) {
        int wrong = 0;
        for (const Order order : {Order::Forward, Order::Reverse, Order::Shuffled}) {
            setOrder(order);
            QVERIFY(run(neighbours, m_stream, m_memory, hasBarrier) == cudaSuccess);
            for (int i = 0; i < threads; ++i) {
                wrong += m_memory[i] != static_cast<float>((i + 40) % threads) ? 1 : 0;
            }
        }
        QCOMPARE(wrong == 0, hasBarrier);
    }
}

void TstHostLayer::mistakesAreFaults_data()
{
    QTest::addColumn<int>("kernel");
    QTest::addColumn<QString>("words");
    QTest::newRow("a barrier for a part of the block") << 0 << "has returned";
    QTest::newRow("barriers in two places") << 1 << "and thread";
    QTest::newRow("a shuffle of some lanes") << 2 << "has returned";
    QTest::newRow("a mask of some lanes") << 3 << "names lanes that are not there";
    QTest::newRow("past a shared array") << 4 << "past the end of a shared array";
}

void TstHostLayer::mistakesAreFaults()
{
    QFETCH(int, kernel);
    QFETCH(QString, words);
    void (*const kernels[])() = {halfBarrier, barrierInTwoPlaces, shuffleOfSome, narrowMask, pastTheEnd};
    QVERIFY(run(kernels[kernel], m_stream) == cudaErrorLaunchFailure);
    QVERIFY2(lastFault().find(words.toStdString()) != std::string::npos, lastFault().c_str());
    // As on a device, nothing runs any more.
    QVERIFY(cudaMemsetAsync(m_memory, 0, 4, m_stream) == cudaErrorLaunchFailure);
    reset();
    QVERIFY(run(warpSums, m_stream, m_memory) == cudaSuccess);
}

void TstHostLayer::memoryStartsAsNaN()
{
    QVERIFY(std::isnan(m_memory[threads - 1]));
    m_memory[0] = 0;
    QVERIFY(run(unwritten, m_stream, m_memory) == cudaSuccess);
    QVERIFY(std::isnan(m_memory[0]));
}

void TstHostLayer::shufflesAddUp()
{
    QVERIFY(run(warpSums, m_stream, m_memory) == cudaSuccess);
    for (int i = 0; i < threads; ++i) {
        const int first = i / 32 * 32;
        QCOMPARE(m_memory[i], static_cast<float>(32 * first + 31 * 16));
    }
}

void TstHostLayer::lazyStreamsRunWhenWaitedFor()
{
    setStreams(Streams::Lazy);
    std::vector<float> host {1, 2, 3};
    float back = 0;
    QVERIFY(cudaMemcpyAsync(m_memory, host.data(), 12, cudaMemcpyHostToDevice, m_stream) == cudaSuccess);
    QVERIFY(cudaMemcpyAsync(&back, m_memory + 2, 4, cudaMemcpyDeviceToHost, m_stream) == cudaSuccess);
    host[2] = 9; // pageable memory was staged
    QCOMPARE(back, 0.0F);
    QVERIFY(cudaStreamSynchronize(m_stream) == cudaSuccess);
    QCOMPARE(back, 3.0F);
}

void TstHostLayer::wrongCallsAreRefused()
{
    float host = 0;
    QVERIFY(cudaMemcpyAsync(m_memory, m_memory, 4, cudaMemcpyHostToDevice, m_stream) == cudaErrorInvalidValue);
    QVERIFY(cudaMemcpyAsync(&host, &host, 4, cudaMemcpyDeviceToHost, m_stream) == cudaErrorInvalidValue);
    QVERIFY(cudaMemsetAsync(m_memory, 0, threads * sizeof(float) + 1, m_stream) == cudaErrorInvalidValue);
    QVERIFY(cudaFree(&host) == cudaErrorInvalidValue);
    cudaLaunchConfig_t config {};
    config.gridDim = dim3(0);
    config.blockDim = dim3(threads);
    config.stream = m_stream;
    QVERIFY(cudaLaunchKernelEx(&config, warpSums, m_memory) == cudaErrorInvalidConfiguration);
    config.gridDim = dim3(1);
    config.blockDim = dim3(2048);
    QVERIFY(cudaLaunchKernelEx(&config, warpSums, m_memory) == cudaErrorInvalidConfiguration);
}

QTEST_APPLESS_MAIN(TstHostLayer)
#include "tst_host_layer.moc"
