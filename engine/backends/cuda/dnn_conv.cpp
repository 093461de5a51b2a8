// Convolutions through cuDNN, always of FP32 operands into FP32: 16-bit ones are widened, which TF32 units multiply
// exactly, since TF32 holds every FP16 and BF16 number; the sums are FP32, the bias joins before the one rounding, and
// the rounding is ours to count. The algorithms are the deterministic ones that multiply the operands themselves.
#include "engine/backends/cuda/cuda_stream.h"
#include "engine/backends/cuda/dnn.h"
#include "engine/backends/cuda/dnn_library.h"
#include "engine/backends/cuda/kernel_factories.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/backends/cuda/launch_kernel.h"
#include "engine/backends/cuda/operands.h"

#include <limits>

namespace mantissa::cuda {

namespace {

constexpr cudnnConvolutionFwdAlgo_t forwardAlgorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
constexpr cudnnConvolutionBwdDataAlgo_t dataAlgorithm = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
constexpr cudnnConvolutionBwdFilterAlgo_t filterAlgorithm = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;

/// One of cuDNN's descriptors.
template <typename Handle> class Descriptor
{
public:
    using Create = cudnnStatus_t (*)(Handle*);
    using Destroy = cudnnStatus_t (*)(Handle);

    Descriptor(const DnnLibrary& library, Create create, Destroy destroy)
        : m_destroy(destroy)
    {
        library.check(create(&m_handle), "describe a convolution");
    }

    ~Descriptor() { m_destroy(m_handle); }

    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] Handle get() const { return m_handle; }

private:
    Handle m_handle = nullptr;
    Destroy m_destroy;
};

constexpr std::size_t alignedUp(std::size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

std::size_t floatBytes(std::int64_t elements)
{
    return alignedUp(static_cast<std::size_t>(elements) * sizeof(float));
}

std::int64_t elementsOf(std::int64_t images, const Image& image)
{
    return images * image.height * image.width * image.channels;
}

class DnnConv final : public Kernel
{
public:
    DnnConv(const KernelRequest& request, const Context& context, const ConvSetting& setting)
        : m_library(*context.dnn)
        , m_op(request.op)
        , m_setting(setting)
        , m_views(request)
        , m_hasBias(request.op == Op::Conv2d && request.inputs.size() > 2)
        , m_weights(setting.y.channels * setting.x.channels / setting.groups * setting.kernel[0] * setting.kernel[1])
        , m_image(m_library, m_library.calls.CreateTensorDescriptor, m_library.calls.DestroyTensorDescriptor)
        , m_result(m_library, m_library.calls.CreateTensorDescriptor, m_library.calls.DestroyTensorDescriptor)
        , m_filter(m_library, m_library.calls.CreateFilterDescriptor, m_library.calls.DestroyFilterDescriptor)
        , m_conv(m_library, m_library.calls.CreateConvolutionDescriptor, m_library.calls.DestroyConvolutionDescriptor)
    {
        describe(m_image, setting.x);
        describe(m_result, setting.y);
        const auto number = [](std::int64_t value) { return static_cast<int>(value); };
        const DnnCalls& dnn = m_library.calls;
        check(dnn.SetFilter4dDescriptor(m_filter.get(), CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, number(setting.y.channels),
            number(setting.x.channels / setting.groups), number(setting.kernel[0]), number(setting.kernel[1])));
        check(dnn.SetConvolution2dDescriptor(m_conv.get(), number(setting.padding[0]), number(setting.padding[1]),
            number(setting.stride[0]), number(setting.stride[1]), number(setting.dilation[0]),
            number(setting.dilation[1]), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
        check(dnn.SetConvolutionGroupCount(m_conv.get(), number(setting.groups)));
        // The default lets FP32 operands be cut to TF32, which changes none that was widened.
        const bool isHalfOnly = request.inputs[0].dtype != DType::Float32 && request.inputs[1].dtype != DType::Float32;
        check(dnn.SetConvolutionMathType(
            m_conv.get(), isHalfOnly || request.products.tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH));
        m_isServed
            = m_library.asked([this](cudnnHandle_t handle) { return askWorkspace(handle); }) == CUDNN_STATUS_SUCCESS;
        placeWorkspace(request);
    }

    /// Whether cuDNN has what is asked for.
    [[nodiscard]] bool isServed() const { return m_isServed; }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_dnnAt + m_dnnBytes; }

    void bind(const KernelBinding& binding) override { m_binding = binding; }

    void run(Stream& stream) override
    {
        auto& queue = static_cast<CudaStream&>(stream);
        std::shared_ptr<void>& owned = queue.libraryHandle();
        if (!owned) {
            owned = std::make_shared<DnnHandle>(m_library, queue.handle());
        }
        cudnnHandle_t const handle = static_cast<DnnHandle*>(owned.get())->get();
        const float one = 1;
        const float zero = 0;
        auto* const workspace = at(m_dnnAt);
        const DnnCalls& dnn = m_library.calls;
        switch (m_op) {
        case Op::Conv2d: {
            const void* const x = widened(0, m_imageAt, elementsOf(m_setting.images, m_setting.x), queue.handle());
            const void* const w = channelsLast(1, queue.handle());
            void* const y = m_isDirect ? m_binding.outputs[0] : at(m_outputAt);
            check(dnn.ConvolutionForward(handle, &one, m_image.get(), x, m_filter.get(), w, m_conv.get(),
                forwardAlgorithm, workspace, m_dnnBytes, &zero, m_result.get(), y));
            break;
        }
        case Op::Conv2dInputGrad: {
            const void* const d = widened(0, m_resultAt, elementsOf(m_setting.images, m_setting.y), queue.handle());
            const void* const w = channelsLast(1, queue.handle());
            void* const dx = m_isDirect ? m_binding.outputs[0] : at(m_outputAt);
            check(dnn.ConvolutionBackwardData(handle, &one, m_filter.get(), w, m_result.get(), d, m_conv.get(),
                dataAlgorithm, workspace, m_dnnBytes, &zero, m_image.get(), dx));
            break;
        }
        default: {
            const void* const d = widened(0, m_resultAt, elementsOf(m_setting.images, m_setting.y), queue.handle());
            const void* const x = widened(1, m_imageAt, elementsOf(m_setting.images, m_setting.x), queue.handle());
            check(dnn.ConvolutionBackwardFilter(handle, &one, m_image.get(), x, m_result.get(), d, m_conv.get(),
                filterAlgorithm, workspace, m_dnnBytes, &zero, m_filter.get(), at(m_outputAt)));
            break;
        }
        }
        finish(queue.handle());
    }

private:
    void check(cudnnStatus_t status) const { m_library.check(status, "compute a convolution"); }

    void describe(const Descriptor<cudnnTensorDescriptor_t>& tensor, const Image& image) const
    {
        const auto c = static_cast<int>(image.channels);
        const auto h = static_cast<int>(image.height);
        const auto w = static_cast<int>(image.width);
        check(m_library.calls.SetTensor4dDescriptorEx(
            tensor.get(), CUDNN_DATA_FLOAT, static_cast<int>(m_setting.images), c, h, w, h * w * c, 1, w * c, c));
    }

    cudnnStatus_t askWorkspace(cudnnHandle_t handle)
    {
        const DnnCalls& dnn = m_library.calls;
        switch (m_op) {
        case Op::Conv2d:
            return dnn.GetConvolutionForwardWorkspaceSize(
                handle, m_image.get(), m_filter.get(), m_conv.get(), m_result.get(), forwardAlgorithm, &m_dnnBytes);
        case Op::Conv2dInputGrad:
            return dnn.GetConvolutionBackwardDataWorkspaceSize(
                handle, m_filter.get(), m_result.get(), m_conv.get(), m_image.get(), dataAlgorithm, &m_dnnBytes);
        default:
            return dnn.GetConvolutionBackwardFilterWorkspaceSize(
                handle, m_image.get(), m_result.get(), m_conv.get(), m_filter.get(), filterAlgorithm, &m_dnnBytes);
        }
    }

    /// Widened images, weights with channels last, what cuDNN computes, then its own.
    void placeWorkspace(const KernelRequest& request)
    {
        const bool isForward = m_op == Op::Conv2d;
        const bool isWeightGrad = m_op == Op::Conv2dWeightGrad;
        m_isDirect = !isWeightGrad && !m_hasBias && request.outputs[0].dtype == DType::Float32;
        std::size_t end = 0;
        const auto place = [&end](bool isNeeded, std::int64_t elements) {
            const std::size_t begin = end;
            end += isNeeded ? floatBytes(elements) : 0;
            return begin;
        };
        const auto isHalfInput = [&request](std::size_t i) { return request.inputs[i].dtype != DType::Float32; };
        m_imageAt = place(
            isForward ? isHalfInput(0) : isWeightGrad && isHalfInput(1), elementsOf(m_setting.images, m_setting.x));
        m_resultAt = place(!isForward && isHalfInput(0), elementsOf(m_setting.images, m_setting.y));
        m_weightsAt = place(!isWeightGrad, m_weights);
        m_outputAt = place(!m_isDirect, request.outputs[0].shape.elements());
        m_dnnAt = end;
        m_elements = request.outputs[0].shape.elements();
    }

    [[nodiscard]] std::byte* at(std::size_t place) const
    {
        return static_cast<std::byte*>(m_binding.workspace) + place;
    }

    /// The operand, as FP32.
    [[nodiscard]] const void* widened(std::size_t operand, std::size_t place, std::int64_t n, cudaStream_t stream) const
    {
        const In in = m_views.in(m_binding, operand);
        if (in.format == Format::Float32) {
            return in.data;
        }
        runMap(Map::Copy, {in, {nullptr, Format::Float32}, 0, 0}, {at(place), Format::Float32, nullptr, nullptr}, n,
            stream);
        return at(place);
    }

    /// [o, c, kh, kw] as FP32 [o, kh, kw, c].
    [[nodiscard]] const void* channelsLast(std::size_t operand, cudaStream_t stream) const
    {
        const auto [height, width] = m_setting.kernel;
        const std::int64_t channels = m_setting.x.channels / m_setting.groups;
        const PermuteSetting setting {
            4, {m_setting.y.channels, height, width, channels}, {channels * height * width, width, 1, height * width}};
        runPermute(setting, m_views.in(m_binding, operand), {at(m_weightsAt), Format::Float32, nullptr, nullptr},
            m_weights, stream);
        return at(m_weightsAt);
    }

    /// From what cuDNN computed to the output.
    void finish(cudaStream_t stream) const
    {
        if (m_isDirect) {
            return;
        }
        const In computed {at(m_outputAt), Format::Float32};
        const Out out = m_views.out(m_binding, 0);
        if (m_op == Op::Conv2dWeightGrad) {
            const auto [height, width] = m_setting.kernel;
            const std::int64_t channels = m_setting.x.channels / m_setting.groups;
            const PermuteSetting setting {4, {m_setting.y.channels, channels, height, width},
                {channels * height * width, 1, width * channels, channels}};
            runPermute(setting, computed, out, m_weights, stream);
        } else if (m_hasBias) {
            runMap(Map::Add, {computed, m_views.in(m_binding, 2), m_setting.y.channels, 0}, out, m_elements, stream);
        } else {
            runMap(Map::Copy, {computed, {nullptr, Format::Float32}, 0, 0}, out, m_elements, stream);
        }
    }

    const DnnLibrary& m_library;
    Op m_op;
    ConvSetting m_setting;
    Views m_views;
    bool m_hasBias;
    std::int64_t m_weights; ///< their number
    Descriptor<cudnnTensorDescriptor_t> m_image;
    Descriptor<cudnnTensorDescriptor_t> m_result;
    Descriptor<cudnnFilterDescriptor_t> m_filter;
    Descriptor<cudnnConvolutionDescriptor_t> m_conv;
    bool m_isServed = false;
    bool m_isDirect = false; ///< cuDNN writes into the output
    std::size_t m_imageAt = 0;
    std::size_t m_resultAt = 0;
    std::size_t m_weightsAt = 0;
    std::size_t m_outputAt = 0;
    std::size_t m_dnnAt = 0;
    std::size_t m_dnnBytes = 0;
    std::int64_t m_elements = 0;
    KernelBinding m_binding;
};

} // namespace

std::unique_ptr<Kernel> makeDnnConv(const KernelRequest& request, const Context& context, const ConvSetting& setting)
{
    // cuDNN counts in int.
    const std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (context.dnn == nullptr || elementsOf(setting.images, setting.x) > most
        || elementsOf(setting.images, setting.y) > most || request.outputs[0].shape.elements() == 0) {
        return nullptr;
    }
    auto kernel = std::make_unique<DnnConv>(request, context, setting);
    return kernel->isServed() ? std::move(kernel) : nullptr;
}

} // namespace mantissa::cuda
