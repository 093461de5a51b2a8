#include "ui/layers/survival.h"

#include "engine/train/layer_measure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace mantissa {

namespace {

constexpr std::size_t mostNamed = 3;

/// Elements of each kind, in one tensor or several.
struct Counts
{
    double normal = 0;
    double subnormal = 0;
    double flushed = 0;
    double zero = 0;
    double overflowed = 0;

    [[nodiscard]] double total() const { return normal + subnormal + flushed + zero + overflowed; }

    Counts& operator+=(const Counts& other)
    {
        normal += other.normal;
        subnormal += other.subnormal;
        flushed += other.flushed;
        zero += other.zero;
        overflowed += other.overflowed;
        return *this;
    }
};

class StageSums
{
public:
    explicit StageSums(SurvivalKind kind)
        : m_kind(kind)
    {
    }

    void add(std::string_view layer, const Counts& counts)
    {
        m_layers[std::string(layer)] += counts;
        m_all += counts;
    }

    [[nodiscard]] SurvivalKind kind() const { return m_kind; }

    [[nodiscard]] SurvivalStage stage() const
    {
        SurvivalStage stage {m_kind};
        const double all = std::max(m_all.total(), 1.0);
        stage.normal = m_all.normal / all;
        stage.subnormal = m_all.subnormal / all;
        stage.flushed = m_all.flushed / all;
        stage.zero = m_all.zero / all;
        stage.overflowed = m_all.overflowed / all;
        for (const auto& [layer, counts] : m_layers) {
            const double lost = counts.flushed + counts.overflowed;
            if (lost > 0) {
                stage.worst.emplace_back(layer, lost / counts.total());
            }
        }
        std::stable_sort(
            stage.worst.begin(), stage.worst.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
        stage.worst.resize(std::min(stage.worst.size(), mostNamed));
        return stage;
    }

private:
    SurvivalKind m_kind;
    Counts m_all;
    std::map<std::string, Counts> m_layers;
};

double infiniteOf(const Census& census)
{
    return static_cast<double>(census.overflowed + census.infinite + census.nan);
}

/// Of the gradient times 2^shift rounded to `format`.
Counts forecastOf(const TensorSample& gradient, double shift, DType format)
{
    const RoundingForecast shares = forecast(gradient, shift, format);
    const auto all = static_cast<double>(gradient.elements);
    Counts counts;
    counts.zero = static_cast<double>(gradient.census.zero);
    counts.flushed = shares.flushed * all;
    counts.subnormal = shares.subnormal * all;
    counts.overflowed = shares.overflowed * all + infiniteOf(gradient.census);
    counts.normal = std::max(0.0, all - counts.zero - counts.flushed - counts.subnormal - counts.overflowed);
    return counts;
}

/// `zeros`: of the gradient itself; what is zero beyond them was flushed on the way here.
Counts countsOf(const TensorSample& sample, double zeros)
{
    const auto now = static_cast<double>(sample.census.zero + sample.census.flushed);
    Counts counts;
    counts.normal = static_cast<double>(sample.census.normal);
    counts.subnormal = static_cast<double>(sample.census.subnormal);
    counts.zero = std::min(now, zeros);
    counts.flushed = now - counts.zero;
    counts.overflowed = infiniteOf(sample.census);
    return counts;
}

Counts appliedOf(const TensorSample& update, double zeros)
{
    const auto kept = static_cast<double>(update.census.zero);
    Counts counts;
    counts.normal = static_cast<double>(update.elements) - kept;
    counts.zero = std::min(kept, zeros);
    counts.flushed = kept - counts.zero;
    return counts;
}

} // namespace

std::vector<SurvivalStage> survivalOf(const StepSample& sample)
{
    std::map<std::string_view, double> zeros; // of the gradient, by parameter
    for (const TensorSample& tensor : sample.tensors) {
        // Where no reference was taken, what was zero before its rounding.
        if (tensor.role == TensorRole::Reference) {
            zeros[tensor.tensor] = static_cast<double>(tensor.census.zero);
        } else if (tensor.role == TensorRole::Scaled) {
            zeros.try_emplace(tensor.tensor, static_cast<double>(tensor.census.zero));
        }
    }
    std::vector<StageSums> stages;
    const auto sumsOf = [&stages](SurvivalKind kind) -> StageSums& {
        const auto found
            = std::find_if(stages.begin(), stages.end(), [kind](const StageSums& sums) { return sums.kind() == kind; });
        return found == stages.end() ? stages.emplace_back(kind) : *found;
    };
    if (isHalf(sample.lower)) {
        for (const TensorSample& tensor : sample.tensors) {
            if (tensor.role == TensorRole::Reference) {
                const std::string_view layer = layerOf(tensor.tensor);
                sumsOf(SurvivalKind::Raw).add(layer, forecastOf(tensor, 0, sample.lower));
                sumsOf(SurvivalKind::Scaled).add(layer, forecastOf(tensor, std::log2(sample.scale), sample.lower));
            }
        }
    }
    for (const TensorSample& tensor : sample.tensors) {
        const std::string_view layer = layerOf(tensor.tensor);
        const double zero = zeros[tensor.tensor];
        const auto add = [&](SurvivalKind kind) { sumsOf(kind).add(layer, countsOf(tensor, zero)); };
        switch (tensor.role) {
        case TensorRole::Scaled:
            add(SurvivalKind::Cast);
            break;
        case TensorRole::Unscaled:
            add(SurvivalKind::Unscaled);
            break;
        case TensorRole::Clipped:
            add(SurvivalKind::Clipped);
            break;
        case TensorRole::Update:
            sumsOf(SurvivalKind::Applied).add(layer, appliedOf(tensor, zero));
            break;
        case TensorRole::Weight:
        case TensorRole::Activation:
        case TensorRole::ActivationGradient:
        case TensorRole::Reference:
            break;
        }
    }
    std::vector<SurvivalStage> result;
    for (const StageSums& sums : stages) {
        result.push_back(sums.stage());
    }
    return result;
}

} // namespace mantissa
