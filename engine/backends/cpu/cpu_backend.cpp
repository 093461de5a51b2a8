#include "engine/backends/cpu/cpu_backend.h"

#include "engine/backends/cpu/kernel_factories.h"
#include "engine/core/cpu_features.h"
#include "engine/core/error.h"
#include "engine/graph/op_def.h"

#include <dnnl.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mantissa {

namespace {

constexpr std::size_t alignment = 64;

class CpuBuffer : public Buffer
{
public:
    explicit CpuBuffer(std::size_t bytes)
        : m_bytes(bytes)
    {
        // What no address space holds is refused here: some allocators abort on it instead of failing.
        if (bytes <= static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / 2) {
            m_data.reset(static_cast<std::byte*>(::operator new (bytes, std::align_val_t {alignment}, std::nothrow)));
        }
        if (m_data == nullptr) {
            throw Error(ErrorCode::OutOfMemory,
                fmt::format("There is no room for {} MiB of memory. Choose a smaller batch or model, or fewer lanes.",
                    (bytes >> 20U) + 1));
        }
    }

    [[nodiscard]] void* data() override { return m_data.get(); }

    [[nodiscard]] std::size_t bytes() const override { return m_bytes; }

private:
    struct Free
    {
        void operator()(std::byte* data) const { ::operator delete (data, std::align_val_t {alignment}); }
    };

    std::unique_ptr<std::byte, Free> m_data;
    std::size_t m_bytes;
};

/// Everything runs at once on the calling thread.
class CpuStream : public Stream
{
public:
    void upload(void* device, const void* host, std::size_t bytes) override { copy(device, host, bytes); }

    void download(void* host, const void* device, std::size_t bytes) override { copy(host, device, bytes); }

    void fillZero(void* device, std::size_t bytes) override
    {
        if (bytes > 0) {
            std::memset(device, 0, bytes);
        }
    }

    void copy(void* target, const void* source, std::size_t bytes) override
    {
        if (bytes > 0) {
            std::memcpy(target, source, bytes);
        }
    }

    void synchronize() override { }
};

std::string cpuBrand()
{
#if defined(__x86_64__)
    std::array<unsigned, 12> words {};
    for (unsigned leaf = 0; leaf < 3; ++leaf) {
        unsigned* part = words.data() + std::size_t {4} * leaf;
        if (__get_cpuid(0x80000002U + leaf, part, part + 1, part + 2, part + 3) == 0) {
            return "CPU";
        }
    }
    std::array<char, sizeof(words) + 1> text {};
    std::memcpy(text.data(), words.data(), sizeof(words));
    std::string brand = text.data();
    const std::size_t first = brand.find_first_not_of(' ');
    const std::size_t last = brand.find_last_not_of(' ');
    return first == std::string::npos ? "CPU" : brand.substr(first, last - first + 1);
#else
    return "CPU";
#endif
}

const char* featuresText(CpuIsa isa)
{
    switch (isa) {
    case CpuIsa::Avx512Bf16:
        return "AVX-512, F16C, BF16";
    case CpuIsa::Avx512:
        return "AVX-512, F16C";
    case CpuIsa::Avx2:
        return "AVX2, F16C";
    case CpuIsa::Baseline:
        break;
    }
    return "baseline";
}

/// oneDNN has dispatch of its own; MANTISSA_CPU_ISA is meant to lower that too. Possible only before its first use.
void capDnnl(CpuIsa isa)
{
    switch (isa) {
    case CpuIsa::Avx512Bf16:
        dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
        return;
    case CpuIsa::Avx512:
        dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core);
        return;
    case CpuIsa::Avx2:
        dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);
        return;
    case CpuIsa::Baseline:
        dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41);
        return;
    }
}

/// MemAvailable of /proc/meminfo: what can be had without swapping, caches that would make room included.
std::uint64_t availableMemory()
{
    std::ifstream in("/proc/meminfo");
    std::string key;
    std::uint64_t kibibytes = 0;
    std::string rest;
    while (in >> key >> kibibytes && std::getline(in, rest)) {
        if (key == "MemAvailable:") {
            return kibibytes * 1024;
        }
    }
    return 0;
}

DeviceInfo describeCpu()
{
    const CpuIsa isa = cpuIsa();
    const dnnl_version_t* version = dnnl_version();
    DeviceInfo info;
    info.name = fmt::format("{} ({})", cpuBrand(), featuresText(isa));
    info.backend = "cpu";
    info.fp16 = FormatSupport::Emulated;
    info.bf16 = isa == CpuIsa::Avx512Bf16 ? FormatSupport::Native : FormatSupport::Emulated;
    info.instructionSet
        = fmt::format("{}, oneDNN {}.{}.{}", nameOf(isa), version->major, version->minor, version->patch);
    if (info.bf16 == FormatSupport::Native) {
        info.note = "Native BF16 takes subnormal numbers (below 1.2e-38) as zero in matrix products and convolutions, "
                    "inputs and sums.";
    }
    return info;
}

class CpuBackend : public Backend
{
public:
    [[nodiscard]] const DeviceInfo& device() const override { return m_device; }

    [[nodiscard]] std::uint64_t freeMemory() const override { return availableMemory(); }

    std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return std::make_unique<CpuBuffer>(bytes); }

    std::unique_ptr<Stream> createStream(int /*threads*/) override { return std::make_unique<CpuStream>(); }

    std::unique_ptr<Kernel> prepare(const KernelRequest& request) override;

private:
    DeviceInfo m_device = describeCpu();
};

std::unique_ptr<Kernel> CpuBackend::prepare(const KernelRequest& request)
{
    switch (request.op) {
    case Op::Linear:
    case Op::MatMul:
        return cpu::makeMatMul(request);
    case Op::Conv2d:
    case Op::Conv2dInputGrad:
    case Op::Conv2dWeightGrad:
        return cpu::makeConv(request);
    case Op::MaxPool2d:
    case Op::MaxPool2dGrad:
    case Op::AvgPool2d:
    case Op::AvgPool2dGrad:
        return cpu::makePool(request);
    case Op::BatchNorm2d:
    case Op::BatchNorm2dGrad:
        return cpu::makeBatchNorm(request);
    case Op::GroupNorm:
        return cpu::makeGroupNorm(request);
    case Op::LayerNorm:
    case Op::RmsNorm:
        return cpu::makeRowNorm(request);
    case Op::NormGrad:
        return cpu::makeNormGrad(request);
    case Op::Embedding:
    case Op::EmbeddingGrad:
        return cpu::makeEmbedding(request);
    case Op::Attention:
        return cpu::makeAttention(request);
    case Op::AttentionGrad:
        return cpu::makeAttentionGrad(request);
    case Op::ScaleMask:
        return cpu::makeScaleMask(request);
    case Op::Softmax:
    case Op::LogSoftmax:
        return cpu::makeSoftmax(request);
    case Op::SoftmaxGrad:
    case Op::LogSoftmaxGrad:
        return cpu::makeSoftmaxGrad(request);
    case Op::Sum:
    case Op::Mean:
    case Op::GlobalAvgPool:
        return cpu::makeReduce(request);
    case Op::Expand:
        return cpu::makeExpand(request);
    case Op::Permute:
        return cpu::makePermute(request);
    case Op::Concat:
        return cpu::makeConcat(request);
    case Op::Slice:
    case Op::SliceGrad:
        return cpu::makeSlice(request);
    case Op::BiasAdd:
    case Op::Add:
    case Op::Mul:
        return cpu::makeBroadcast(request);
    case Op::Relu:
    case Op::Gelu:
    case Op::Silu:
    case Op::Tanh:
    case Op::Sigmoid:
    case Op::ReluGrad:
    case Op::GeluGrad:
    case Op::SiluGrad:
    case Op::TanhGrad:
    case Op::SigmoidGrad:
    case Op::Exp:
    case Op::Log:
    case Op::LogGrad:
        return cpu::makeElementwise(request);
    case Op::Dropout:
        return cpu::makeDropout(request);
    case Op::DropoutGrad:
        return cpu::makeDropoutGrad(request);
    case Op::SoftmaxCrossEntropy:
        return cpu::makeCrossEntropy(request);
    case Op::SoftmaxCrossEntropyGrad:
        return cpu::makeCrossEntropyGrad(request);
    case Op::NllLoss:
    case Op::NllLossGrad:
        return cpu::makeNll(request);
    case Op::MseLoss:
    case Op::BceWithLogits:
        return cpu::makeElementLoss(request);
    case Op::MseLossGrad:
    case Op::BceWithLogitsGrad:
        return cpu::makeElementLossGrad(request);
    case Op::Cast:
    case Op::Reshape:
        return cpu::makeCast(request);
    case Op::Scale:
        return cpu::makeScale(request);
    case Op::SumRows:
        return cpu::makeSumRows(request);
    case Op::Accumulate:
        return cpu::makeAccumulate(request);
    case Op::GradientNorm:
    case Op::Unscale:
        return cpu::makeUnscale(request);
    case Op::ClipByNorm:
    case Op::ClipByValue:
        return cpu::makeClip(request);
    case Op::SgdUpdate:
        return cpu::makeSgd(request);
    case Op::AdamUpdate:
        return cpu::makeAdam(request);
    case Op::EmaUpdate:
        return cpu::makeEma(request);
    case Op::ScalerUpdate:
        return cpu::makeScaler(request);
    }
    throw Error(ErrorCode::UnsupportedDtype, "The CPU backend does not know this operation.");
}

} // namespace

std::unique_ptr<Backend> makeCpuBackend()
{
    if (std::getenv("MANTISSA_CPU_ISA") != nullptr) {
        capDnnl(cpuIsa());
    }
    return std::make_unique<CpuBackend>();
}

} // namespace mantissa
