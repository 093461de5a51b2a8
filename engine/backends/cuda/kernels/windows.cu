// Pooling and convolution of images [n, h, w, c]: a thread per result, which reads its window. Plain loops; the
// convolutions are direct sums in FP32.
#include "engine/backends/cuda/kernels/device.h"
#include "engine/backends/cuda/kernels/kernels.h"

namespace mantissa::cuda {

namespace {

struct Pixel
{
    std::int64_t image;
    std::int64_t row;
    std::int64_t column;
    std::int64_t channel;
};

__device__ Pixel pixelOf(const Image& image, std::int64_t i)
{
    return {i / image.channels / image.width / image.height, i / image.channels / image.width % image.height,
        i / image.channels % image.width, i % image.channels};
}

__device__ std::int64_t indexOf(
    const Image& image, std::int64_t n, std::int64_t row, std::int64_t column, std::int64_t channel)
{
    return ((n * image.height + row) * image.width + column) * image.channels + channel;
}

__device__ bool isInside(const Image& image, std::int64_t row, std::int64_t column)
{
    return row >= 0 && row < image.height && column >= 0 && column < image.width;
}

/// Of the window of result (row, column): its whole size, or what of it lies in the image.
__device__ float windowSize(const PoolSetting& setting, std::int64_t row, std::int64_t column)
{
    if (setting.countPadding) {
        return static_cast<float>(setting.kernel[0] * setting.kernel[1]);
    }
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < setting.kernel[0]; ++i) {
        for (std::int64_t j = 0; j < setting.kernel[1]; ++j) {
            count += isInside(setting.x, row * setting.stride[0] - setting.padding[0] + i,
                         column * setting.stride[1] - setting.padding[1] + j)
                ? 1
                : 0;
        }
    }
    return static_cast<float>(count);
}

struct MaxPoolFunction
{
    PoolSetting setting;
    In x;
    std::uint8_t* places;

    __device__ float operator()(std::int64_t index) const
    {
        const Pixel result = pixelOf(setting.y, index);
        float largest = -INFINITY;
        std::int64_t place = -1;
        for (std::int64_t i = 0; i < setting.kernel[0]; ++i) {
            for (std::int64_t j = 0; j < setting.kernel[1]; ++j) {
                const std::int64_t row = result.row * setting.stride[0] - setting.padding[0] + i;
                const std::int64_t column = result.column * setting.stride[1] - setting.padding[1] + j;
                if (isInside(setting.x, row, column)) {
                    const float value = load(x, indexOf(setting.x, result.image, row, column, result.channel));
                    if (place < 0 || value > largest || isNan(value)) {
                        largest = value;
                        place = i * setting.kernel[1] + j;
                    }
                }
            }
        }
        places[index] = static_cast<std::uint8_t>(place);
        return largest;
    }
};

/// dx[i] = sum of share(window, place of i in it) over the windows that hold i, in their order.
template <typename Share> struct PoolGradFunction
{
    PoolSetting setting;
    Share share;

    __device__ float operator()(std::int64_t index) const
    {
        const Pixel pixel = pixelOf(setting.x, index);
        float sum = 0.0F;
        // The later the place in the window, the earlier the window.
        for (std::int64_t i = setting.kernel[0] - 1; i >= 0; --i) {
            const std::int64_t top = pixel.row + setting.padding[0] - i;
            for (std::int64_t j = setting.kernel[1] - 1; j >= 0; --j) {
                const std::int64_t left = pixel.column + setting.padding[1] - j;
                if (top % setting.stride[0] == 0 && left % setting.stride[1] == 0
                    && isInside(setting.y, top / setting.stride[0], left / setting.stride[1]) && top >= 0
                    && left >= 0) {
                    sum += share(
                        setting, pixel, top / setting.stride[0], left / setting.stride[1], i * setting.kernel[1] + j);
                }
            }
        }
        return sum;
    }
};

struct MaxShare
{
    In d;
    const std::uint8_t* places;

    __device__ float operator()(
        const PoolSetting& setting, const Pixel& pixel, std::int64_t row, std::int64_t column, std::int64_t place) const
    {
        const std::int64_t at = indexOf(setting.y, pixel.image, row, column, pixel.channel);
        return places[at] == place ? load(d, at) : 0.0F;
    }
};

struct AvgShare
{
    In d;

    __device__ float operator()(const PoolSetting& setting, const Pixel& pixel, std::int64_t row, std::int64_t column,
        std::int64_t /*place*/) const
    {
        return load(d, indexOf(setting.y, pixel.image, row, column, pixel.channel)) / windowSize(setting, row, column);
    }
};

struct AvgPoolFunction
{
    PoolSetting setting;
    In x;

    __device__ float operator()(std::int64_t index) const
    {
        const Pixel result = pixelOf(setting.y, index);
        double sum = 0;
        for (std::int64_t i = 0; i < setting.kernel[0]; ++i) {
            for (std::int64_t j = 0; j < setting.kernel[1]; ++j) {
                const std::int64_t row = result.row * setting.stride[0] - setting.padding[0] + i;
                const std::int64_t column = result.column * setting.stride[1] - setting.padding[1] + j;
                if (isInside(setting.x, row, column)) {
                    sum += static_cast<double>(load(x, indexOf(setting.x, result.image, row, column, result.channel)));
                }
            }
        }
        return static_cast<float>(sum / static_cast<double>(windowSize(setting, result.row, result.column)));
    }
};

struct ConvFunction
{
    ConvSetting setting;
    In x;
    In w;
    In bias;

    __device__ float operator()(std::int64_t index) const
    {
        const Pixel result = pixelOf(setting.y, index);
        const std::int64_t channels = setting.x.channels / setting.groups;
        const std::int64_t first = result.channel / (setting.y.channels / setting.groups) * channels;
        float sum = bias.data != nullptr ? load(bias, result.channel) : 0.0F;
        for (std::int64_t i = 0; i < setting.kernel[0]; ++i) {
            for (std::int64_t j = 0; j < setting.kernel[1]; ++j) {
                const std::int64_t row = result.row * setting.stride[0] - setting.padding[0] + i * setting.dilation[0];
                const std::int64_t column
                    = result.column * setting.stride[1] - setting.padding[1] + j * setting.dilation[1];
                for (std::int64_t c = 0; c < channels && isInside(setting.x, row, column); ++c) {
                    const std::int64_t weight
                        = ((result.channel * channels + c) * setting.kernel[0] + i) * setting.kernel[1] + j;
                    sum += load(x, indexOf(setting.x, result.image, row, column, first + c)) * load(w, weight);
                }
            }
        }
        return sum;
    }
};

struct ConvInputGradFunction
{
    ConvSetting setting;
    In d;
    In w;

    __device__ float operator()(std::int64_t index) const
    {
        const Pixel pixel = pixelOf(setting.x, index);
        const std::int64_t channels = setting.x.channels / setting.groups;
        const std::int64_t outputs = setting.y.channels / setting.groups;
        const std::int64_t group = pixel.channel / channels;
        const std::int64_t c = pixel.channel % channels;
        float sum = 0.0F;
        for (std::int64_t i = 0; i < setting.kernel[0]; ++i) {
            for (std::int64_t j = 0; j < setting.kernel[1]; ++j) {
                const std::int64_t top = pixel.row + setting.padding[0] - i * setting.dilation[0];
                const std::int64_t left = pixel.column + setting.padding[1] - j * setting.dilation[1];
                const bool isWindow = top >= 0 && left >= 0 && top % setting.stride[0] == 0
                    && left % setting.stride[1] == 0
                    && isInside(setting.y, top / setting.stride[0], left / setting.stride[1]);
                for (std::int64_t o = group * outputs; isWindow && o < (group + 1) * outputs; ++o) {
                    const std::int64_t at
                        = indexOf(setting.y, pixel.image, top / setting.stride[0], left / setting.stride[1], o);
                    const std::int64_t weight = ((o * channels + c) * setting.kernel[0] + i) * setting.kernel[1] + j;
                    sum += load(d, at) * load(w, weight);
                }
            }
        }
        return sum;
    }
};

/// A block per weight: its threads share the images' pixels.
__global__ void __launch_bounds__(blockSize)
    convWeightGradKernel(ConvSetting setting, In d, In x, Out dw, std::int64_t n)
{
    Tally tally;
    const std::int64_t channels = setting.x.channels / setting.groups;
    const std::int64_t pixels = setting.images * setting.y.height * setting.y.width;
    for (std::int64_t weight = blockInGrid(); weight < n; weight += static_cast<std::int64_t>(gridDim.x)) {
        const std::int64_t j = weight % setting.kernel[1];
        const std::int64_t i = weight / setting.kernel[1] % setting.kernel[0];
        const std::int64_t c = weight / setting.kernel[1] / setting.kernel[0] % channels;
        const std::int64_t o = weight / setting.kernel[1] / setting.kernel[0] / channels;
        const std::int64_t input = o / (setting.y.channels / setting.groups) * channels + c;
        float sum = 0.0F;
        for (std::int64_t pixel = threadInBlock(); pixel < pixels; pixel += threadsInBlock()) {
            const Pixel at = pixelOf(setting.y, pixel * setting.y.channels);
            const std::int64_t row = at.row * setting.stride[0] - setting.padding[0] + i * setting.dilation[0];
            const std::int64_t column = at.column * setting.stride[1] - setting.padding[1] + j * setting.dilation[1];
            if (isInside(setting.x, row, column)) {
                sum += load(d, pixel * setting.y.channels + o)
                    * load(x, indexOf(setting.x, at.image, row, column, input));
            }
        }
        sum = blockSum(sum);
        if (threadInBlock() == 0) {
            store(dw, weight, sum, tally);
        }
    }
    flush(dw, tally);
}

} // namespace

void runMaxPool(
    const PoolSetting& setting, const In& x, const Out& y, std::uint8_t* places, std::int64_t n, cudaStream_t stream)
{
    elementwise(MaxPoolFunction {setting, x, places}, y, n, stream);
}

void runMaxPoolGrad(const PoolSetting& setting, const In& d, const std::uint8_t* places, const Out& dx, std::int64_t n,
    cudaStream_t stream)
{
    elementwise(PoolGradFunction<MaxShare> {setting, {d, places}}, dx, n, stream);
}

void runAvgPool(const PoolSetting& setting, const In& x, const Out& y, std::int64_t n, cudaStream_t stream)
{
    elementwise(AvgPoolFunction {setting, x}, y, n, stream);
}

void runAvgPoolGrad(const PoolSetting& setting, const In& d, const Out& dx, std::int64_t n, cudaStream_t stream)
{
    elementwise(PoolGradFunction<AvgShare> {setting, {d}}, dx, n, stream);
}

void runConv(const ConvSetting& setting, const In& x, const In& w, const In& bias, const Out& y, std::int64_t n,
    cudaStream_t stream)
{
    elementwise(ConvFunction {setting, x, w, bias}, y, n, stream);
}

void runConvInputGrad(
    const ConvSetting& setting, const In& d, const In& w, const Out& dx, std::int64_t n, cudaStream_t stream)
{
    elementwise(ConvInputGradFunction {setting, d, w}, dx, n, stream);
}

void runConvWeightGrad(
    const ConvSetting& setting, const In& d, const In& x, const Out& dw, std::int64_t n, cudaStream_t stream)
{
    if (n > 0) {
        constexpr std::int64_t mostBlocks = 65536;
        const std::int64_t pixels = setting.images * setting.y.height * setting.y.width;
        launch(
            convWeightGradKernel, n < mostBlocks ? n : mostBlocks, threadsFor(pixels), 0, stream, setting, d, x, dw, n);
    }
}

} // namespace mantissa::cuda
