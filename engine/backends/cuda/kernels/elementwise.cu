// Ops whose result's element i depends on the operands' elements i.
#include "engine/backends/cuda/kernels/device.h"
#include "engine/backends/cuda/kernels/kernels.h"

namespace mantissa::cuda {

namespace {

__device__ float logistic(float x)
{
    return 1.0F / (1.0F + expf(-x));
}

/// erfc keeps the tail's digits where 1 + erf would cancel.
__device__ float normalCdf(float x)
{
    return 0.5F * erfcf(-x * 0.70710678118654752F);
}

__device__ float normalDensity(float x)
{
    return 0.39894228040143268F * expf(-0.5F * x * x);
}

// The tanh form of GELU: 0.5 x (1 + tanh(u)) = x logistic(2u), u = sqrt(2/pi) (x + 0.044715 x^3).
__device__ float geluArgument(float x)
{
    return 0.79788456080286536F * (x + 0.044715F * x * x * x);
}

__device__ float geluTanhSlope(float x)
{
    const float twice = 2.0F * geluArgument(x);
    const float slope = 0.79788456080286536F * (1.0F + 3.0F * 0.044715F * x * x);
    const float gate = logistic(twice);
    const float other = logistic(-twice);
    // Where the gate is closed or open for good its slope is 0, though that of its argument may overflow.
    const bool isFlat = isFinite(x) && (gate == 0.0F || other == 0.0F);
    const float bend = isFlat ? 0.0F : 2.0F * x * gate * other * slope;
    return gate + bend;
}

__device__ float evaluate(Map map, float a, float b, float p)
{
    switch (map) {
    case Map::Copy:
        return a;
    case Map::Scale:
    case Map::Mul:
        return a * b;
    case Map::Add:
        return a + b;
    case Map::Divide:
        return a / p;
    case Map::Relu:
        return a > 0.0F || isNan(a) ? a : 0.0F;
    case Map::ReluGrad:
        return b > 0.0F ? a : 0.0F;
    case Map::Gelu:
        return a * normalCdf(a);
    case Map::GeluGrad:
        return a * (normalCdf(b) + b * normalDensity(b));
    case Map::GeluTanh:
        return a * logistic(2.0F * geluArgument(a));
    case Map::GeluTanhGrad:
        return a * geluTanhSlope(b);
    case Map::Silu:
        return a * logistic(a);
    case Map::SiluGrad:
        return a * logistic(b) * (1.0F + b * logistic(-b));
    case Map::Tanh:
        return tanhf(a);
    case Map::TanhGrad:
        return a * (1.0F - b * b);
    case Map::Sigmoid:
        return logistic(a);
    case Map::SigmoidGrad:
        return a * b * (1.0F - b);
    case Map::Exp:
        return expf(a);
    case Map::Log:
        return logf(a);
    case Map::LogGrad:
        return a / b;
    case Map::DropoutGrad:
        return a * b * p;
    }
    return a;
}

struct MapFunction
{
    Map map;
    MapOperands operands;

    __device__ float operator()(std::int64_t i) const
    {
        const float b
            = operands.b.data != nullptr ? load(operands.b, operands.period == 0 ? i : i % operands.period) : 0.0F;
        return evaluate(map, load(operands.a, i), b, operands.p);
    }
};

struct AccumulateFunction
{
    In g;
    In acc;
    const float* keep;
    const float* guard;

    __device__ float operator()(std::int64_t i) const
    {
        return (*keep != 0.0F ? load(acc, i) : 0.0F) + (isFinite(*guard) ? load(g, i) : 0.0F);
    }
};

struct ScaleMaskFunction
{
    ScaleMaskSetting setting;
    In x;

    __device__ float operator()(std::int64_t i) const
    {
        const bool isMasked = setting.causal && i % setting.columns > i / setting.columns % setting.rows;
        return isMasked ? setting.maskValue : load(x, i) * setting.factor;
    }
};

/// A thread draws four words at once, for four elements.
__global__ void __launch_bounds__(blockSize)
    dropoutKernel(DropoutSetting setting, In x, const std::int32_t* counter, Out y, std::uint8_t* mask, std::int64_t n)
{
    Tally tally;
    const std::uint64_t high = static_cast<std::uint64_t>(static_cast<std::uint32_t>(*counter)) << 32U;
    const std::int64_t skipped = setting.first % 4;
    for (std::int64_t group = threadInGrid(); group * 4 < skipped + n; group += threadsInGrid()) {
        const RandomWords random
            = philox(setting.seed, setting.stream, high | static_cast<std::uint64_t>(setting.first / 4 + group));
        for (int j = 0; j < 4; ++j) {
            const std::int64_t i = group * 4 + j - skipped;
            if (i >= 0 && i < n) {
                const bool isKept = toUnitFloat(random.word[j]) >= setting.probability;
                mask[i] = isKept ? 1 : 0;
                store(y, i, load(x, i) * (isKept ? 1.0F : 0.0F) * setting.factor, tally);
            }
        }
    }
    flush(y, tally);
}

} // namespace

void runMap(Map map, const MapOperands& operands, const Out& y, std::int64_t n, cudaStream_t stream)
{
    elementwise(MapFunction {map, operands}, y, n, stream);
}

void runAccumulate(
    const In& g, const float* keep, const float* guard, const Out& acc, std::int64_t n, cudaStream_t stream)
{
    elementwise(AccumulateFunction {g, acc.asInput(), keep, guard}, acc, n, stream);
}

void runDropout(const DropoutSetting& setting, const In& x, const std::int32_t* counter, const Out& y,
    std::uint8_t* mask, std::int64_t n, cudaStream_t stream)
{
    if (n > 0) {
        launch(dropoutKernel, blocksFor((setting.first % 4 + n + 3) / 4), blockSize, 0, stream, setting, x, counter, y, mask, n);
    }
}

void runScaleMask(const ScaleMaskSetting& setting, const In& x, const Out& y, std::int64_t n, cudaStream_t stream)
{
    elementwise(ScaleMaskFunction {setting, x}, y, n, stream);
}

} // namespace mantissa::cuda
