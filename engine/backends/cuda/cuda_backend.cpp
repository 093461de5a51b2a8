#include "engine/backends/cuda/cuda_backend.h"

#include "engine/backends/cuda/cuda_call.h"
#include "engine/backends/cuda/cuda_stream.h"
#include "engine/backends/cuda/device_choice.h"
#include "engine/backends/cuda/device_memory.h"
#include "engine/backends/cuda/dnn.h"
#include "engine/backends/cuda/kernel_table.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/backends/cuda/nccl.h"
#include "engine/core/error.h"

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace mantissa::cuda {

namespace {

std::string versionText(int version)
{
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

constexpr int oldestMajor = 7; // compute capability 7.5: Turing
constexpr int oldestMinor = 5;

/// Why CUDA cannot be used; empty if it can. Fills in what is known of the device.
std::string reasonAgainst(cudaDeviceProp& properties, int& driver, int& device)
{
    int runtime = 0;
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
        return "There is no NVIDIA driver (libcuda.so.1). Install the driver of your GPU.";
    }
    if (driver / 1000 < runtime / 1000) {
        return fmt::format("The NVIDIA driver is too old: it knows CUDA {}, and this plug-in was built with CUDA {}. "
                           "Update the driver.",
            versionText(driver), versionText(runtime));
    }
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
        return "The NVIDIA driver is there, but it shows no GPU. Look at nvidia-smi and at CUDA_VISIBLE_DEVICES.";
    }
    if (status != cudaSuccess) {
        return fmt::format(
            "CUDA could not list the GPUs: {} ({}).", cudaGetErrorString(status), cudaGetErrorName(status));
    }
    device = chosenDevice(count);
    if (const cudaError_t found = cudaGetDeviceProperties(&properties, device); found != cudaSuccess) {
        return fmt::format(
            "CUDA could not describe the GPU: {} ({}).", cudaGetErrorString(found), cudaGetErrorName(found));
    }
    if (properties.major < oldestMajor || (properties.major == oldestMajor && properties.minor < oldestMinor)) {
        return fmt::format("The GPU {} is too old: it has compute capability {}.{}, and {}.{} is needed (Turing or "
                           "newer).",
            properties.name, properties.major, properties.minor, oldestMajor, oldestMinor);
    }
    return {};
}

/// Runs one small kernel: code for this GPU may be missing in the plug-in, and shows only now. Empty if all is well.
std::string reasonOfFirstKernel(cudaStream_t stream)
{
    constexpr float sent = 1.5F;
    float received = 0;
    try {
        DeviceMemory memory(2 * sizeof sent);
        auto* const values = static_cast<float*>(memory.data());
        check(cudaMemcpyAsync(values, &sent, sizeof sent, cudaMemcpyHostToDevice, stream), "copy to the GPU");
        const In x {values, Format::Float32};
        runMap(Map::Add, {x, x, 0, 0}, {values + 1, Format::Float32, nullptr, nullptr}, 1, stream);
        check(cudaMemcpyAsync(&received, values + 1, sizeof received, cudaMemcpyDeviceToHost, stream),
            "copy from the GPU");
        check(cudaStreamSynchronize(stream), "run a first kernel");
    } catch (const Error& error) {
        return fmt::format("The GPU is there, but it could not be used. {}", error.what());
    }
    return received == sent + sent ? std::string() : "The GPU gave a wrong result for 1.5 + 1.5. It may be damaged.";
}

class CudaBackend final : public Backend
{
public:
    CudaBackend()
    {
        cudaDeviceProp properties {};
        int driver = 0;
        m_device.name = "CUDA";
        m_device.backend = "cuda";
        std::string reason = reasonAgainst(properties, driver, m_context.device);
        if (reason.empty()) {
            reason = start(properties);
        }
        m_device.available = {reason.empty(), reason};
        if (reason.empty()) {
            describe(properties, driver);
        }
    }

    ~CudaBackend() override
    {
        if (m_context.setup != nullptr) {
            static_cast<void>(cudaStreamDestroy(m_context.setup));
        }
        if (m_context.blas != nullptr) {
            static_cast<void>(cublasLtDestroy(m_context.blas));
        }
    }

    CudaBackend(const CudaBackend&) = delete;
    CudaBackend& operator=(const CudaBackend&) = delete;

    [[nodiscard]] const DeviceInfo& device() const override { return m_device; }

    [[nodiscard]] Support supports(const ProductPrecision& products) const override
    {
        return {!products.tf32 || m_context.hasAmpereUnits,
            "its matrix units know no TF32, which began with compute capability 8.0"};
    }

    [[nodiscard]] std::uint64_t freeMemory() const override
    {
        std::size_t free = 0;
        std::size_t total = 0;
        useDevice(m_context.device);
        check(cudaMemGetInfo(&free, &total), "ask for free memory");
        return free;
    }

    std::unique_ptr<Buffer> allocate(std::size_t bytes) override
    {
        useDevice(m_context.device);
        return std::make_unique<DeviceMemory>(bytes);
    }

    std::unique_ptr<Stream> createStream(int /*threads*/) override
    {
        return std::make_unique<CudaStream>(m_context.device);
    }

    std::unique_ptr<Kernel> prepare(const KernelRequest& request) override
    {
        useDevice(m_context.device);
        return prepareKernel(request, m_context);
    }

    FoundMean gradientMean(const std::shared_ptr<Communicator>& ranks) override
    {
        useDevice(m_context.device);
        return m_nccl.meanOver(ranks, m_identity);
    }

    [[nodiscard]] std::string exchangeText() override { return m_nccl.text(); }

private:
    /// Why the libraries cannot be used; empty if they can.
    std::string start(const cudaDeviceProp& properties)
    {
        useDevice(m_context.device);
        std::memcpy(m_identity.data(), properties.uuid.bytes, sizeof m_identity);
        constexpr int hopper = 9;
        constexpr int ampere = 8;
        if (const cublasStatus_t status = cublasLtCreate(&m_context.blas); status != CUBLAS_STATUS_SUCCESS) {
            return fmt::format("cuBLASLt could not be started: {} (status {}). Is another program using the GPU's "
                               "memory?",
                cublasLtGetStatusString(status), static_cast<int>(status));
        }
        const cudaError_t status = cudaStreamCreateWithFlags(&m_context.setup, cudaStreamNonBlocking);
        if (status != cudaSuccess) {
            return fmt::format(
                "CUDA could not start on the GPU: {} ({}).", cudaGetErrorString(status), cudaGetErrorName(status));
        }
        if (const std::string reason = reasonOfFirstKernel(m_context.setup); !reason.empty()) {
            return reason;
        }
        LoadedDnn dnn = loadDnn();
        m_context.dnn = std::move(dnn.library);
        m_dnnText = std::move(dnn.text);
        m_context.hasAmpereUnits = properties.major >= ampere;
        // What NVIDIA recommends for cuBLAS.
        m_context.blasWorkspace = (properties.major >= hopper ? std::size_t {32} : std::size_t {4}) << 20U;
        return {};
    }

    void describe(const cudaDeviceProp& properties, int driver)
    {
        m_device.name = fmt::format("{} (compute capability {}.{}, CUDA {})", properties.name, properties.major,
            properties.minor, versionText(driver));
        m_device.fp16 = FormatSupport::Native;
        m_device.bf16 = m_context.hasAmpereUnits ? FormatSupport::Native : FormatSupport::Emulated;
        m_device.instructionSet = fmt::format("sm_{}{}, cuBLASLt {}{}", properties.major, properties.minor,
            cublasLtGetVersion(), m_context.dnn ? ", " + m_dnnText : "");
        if (!m_context.hasAmpereUnits) {
            m_device.note
                = "This GPU is too old for BF16 (compute capability 8.0): its products are computed in FP32. ";
        }
        if (!m_context.dnn) {
            m_device.note += fmt::format("Convolutions use own kernels, which are slower: {}.", m_dnnText);
        }
    }

    Context m_context;
    GpuIdentity m_identity {};
    Nccl m_nccl;
    std::string m_dnnText; ///< its version, or why it is not used
    DeviceInfo m_device;
};

} // namespace

std::unique_ptr<Backend> makeCudaBackend()
{
    return std::make_unique<CudaBackend>();
}

} // namespace mantissa::cuda
