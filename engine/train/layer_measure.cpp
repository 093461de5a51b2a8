#include "engine/train/layer_measure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace mantissa {

namespace {

constexpr double none = TensorSample::none;

/// The tensors of one parameter.
struct ParameterSamples
{
    const TensorSample* weight = nullptr;
    const TensorSample* reference = nullptr;
    const TensorSample* scaled = nullptr;
    const TensorSample* unscaled = nullptr;
    const TensorSample* last = nullptr; ///< gradient: the newest of those above
    const TensorSample* update = nullptr;
};

double nonZero(const TensorSample& sample)
{
    const auto finite = std::accumulate(sample.exponents.begin(), sample.exponents.end(), std::uint64_t {0});
    return static_cast<double>(finite + sample.census.infinite + sample.census.overflowed + sample.census.nan);
}

double ratioOf(double part, double whole)
{
    return whole == 0 ? none : part / whole;
}

/// Of an Update, the elements that moved, and those that were to: with a gradient, or moved without one.
struct MovedElements
{
    double moved = 0;
    double wanted = 0;
};

MovedElements movedElements(const TensorSample& update, const TensorSample* gradient)
{
    const auto moved = static_cast<double>(update.elements - update.census.zero);
    if (std::isnan(update.unmoved)) {
        return {moved, moved};
    }
    if (update.unmoved < 1) {
        return {moved, std::round(moved / (1 - update.unmoved))};
    }
    return {0, gradient == nullptr ? 0 : nonZero(*gradient)};
}

/// What a row's tensors add up to.
class RowSums
{
public:
    void add(const ParameterSamples& parameter, double scale)
    {
        if (parameter.unscaled != nullptr) {
            m_normSquares += square(parameter.unscaled->norm);
            // A norm leaves out what is not finite; a gradient that holds some has none.
            const Census& census = parameter.unscaled->census;
            m_isFinite = m_isFinite && census.infinite + census.overflowed + census.nan == 0;
            m_hasGradient = true;
        }
        if (parameter.scaled != nullptr) {
            m_rounding += parameter.scaled->census;
        }
        if (parameter.scaled != nullptr && parameter.reference != nullptr) {
            compare(*parameter.scaled, *parameter.reference, scale);
        }
        if (parameter.update != nullptr && parameter.weight != nullptr) {
            addUpdate(parameter);
        }
    }

    void add(const TensorSample& activation)
    {
        m_largest = std::isnan(m_largest) ? activation.largest : std::max(m_largest, activation.largest);
        m_dead = activation.dead;
        m_saturated = activation.saturated;
    }

    [[nodiscard]] LayerValues values() const
    {
        const auto rounded = static_cast<double>(m_rounding.total());
        const auto share = [rounded](std::uint64_t count) { return ratioOf(static_cast<double>(count), rounded); };
        LayerValues values {};
        const auto set
            = [&values](LayerMeasure measure, double value) { values[static_cast<std::size_t>(measure)] = value; };
        set(LayerMeasure::GradientNorm,
            !m_hasGradient   ? none
                : m_isFinite ? std::sqrt(m_normSquares)
                             : std::numeric_limits<double>::infinity());
        set(LayerMeasure::Flushed, share(m_rounding.flushed));
        set(LayerMeasure::Subnormal, share(m_rounding.subnormal));
        set(LayerMeasure::Overflowed, share(m_rounding.overflowed));
        set(LayerMeasure::Cosine, m_hasReference ? m_product / std::sqrt(m_ours * m_theirs) : none);
        set(LayerMeasure::RelativeError, m_hasReference ? std::sqrt(m_difference / m_theirs) : none);
        set(LayerMeasure::UpdateRatio, m_hasUpdate ? std::sqrt(m_updateSquares / m_weightSquares) : none);
        set(LayerMeasure::BelowHalfUlp, ratioOf(m_lost, m_movedOfLost));
        set(LayerMeasure::Unmoved, ratioOf(m_wanted - m_moved, m_wanted));
        set(LayerMeasure::ActivationLargest, m_largest);
        set(LayerMeasure::Dead, m_dead);
        set(LayerMeasure::Saturated, m_saturated);
        return values;
    }

private:
    static double square(double value) { return value * value; }

    void compare(const TensorSample& scaled, const TensorSample& reference, double scale)
    {
        m_hasReference = true;
        const double ours = scaled.norm / scale;
        const double theirs = reference.norm;
        m_ours += square(ours);
        m_theirs += square(theirs);
        // The cosine to a gradient of zeros is none, but their product is 0; so is an error relative to zeros.
        m_product += ours * theirs == 0 ? 0 : scaled.cosine * ours * theirs;
        m_difference += theirs == 0 ? square(ours) : square(scaled.relativeError * theirs);
    }

    void addUpdate(const ParameterSamples& parameter)
    {
        m_hasUpdate = true;
        m_updateSquares += square(parameter.update->norm);
        m_weightSquares += square(parameter.weight->norm);
        const MovedElements elements = movedElements(*parameter.update, parameter.last);
        m_moved += elements.moved;
        m_wanted += elements.wanted;
        if (!std::isnan(parameter.update->belowHalfUlp)) {
            m_lost += parameter.update->belowHalfUlp * elements.moved;
            m_movedOfLost += elements.moved;
        }
    }

    Census m_rounding;
    double m_normSquares = 0;
    double m_ours = 0;
    double m_theirs = 0;
    double m_product = 0;
    double m_difference = 0;
    double m_updateSquares = 0;
    double m_weightSquares = 0;
    double m_moved = 0;
    double m_wanted = 0;
    double m_lost = 0;
    double m_movedOfLost = 0;
    double m_largest = none;
    double m_dead = none;
    double m_saturated = none;
    bool m_hasGradient = false;
    bool m_isFinite = true;
    bool m_hasReference = false;
    bool m_hasUpdate = false;
};

/// Names of rows in the order of the forward pass: activations lie in it; a parameter comes after what is there of its
/// layer, or else after the parameter before it.
class RowNames
{
public:
    void addActivation(const std::string& name)
    {
        if (m_isKnown.insert(name).second) {
            m_names.push_back(name);
        }
    }

    void addParameter(const std::string& name, std::string_view layer)
    {
        if (!m_isKnown.insert(name).second) {
            m_before = name;
            return;
        }
        const auto place = [this](std::string_view wanted) {
            const auto found = std::find_if(m_names.rbegin(), m_names.rend(),
                [wanted](const std::string& each) { return each == wanted || layerOf(each) == wanted; });
            return found.base(); // behind it; the beginning if there is none
        };
        auto at = place(layer);
        if (at == m_names.begin() && !m_before.empty()) {
            at = std::next(std::find(m_names.begin(), m_names.end(), m_before));
        }
        m_names.insert(at, name);
        m_before = name;
    }

    [[nodiscard]] const std::vector<std::string>& names() const { return m_names; }

private:
    std::vector<std::string> m_names;
    std::set<std::string> m_isKnown;
    std::string m_before; ///< the parameter added last
};

} // namespace

std::string_view nameOf(LayerMeasure measure)
{
    constexpr std::array<std::string_view, allLayerMeasures.size()> names {"gradient_norm", "flushed", "subnormal",
        "overflowed", "cosine", "relative_error", "update_ratio", "below_half_ulp", "unmoved", "activation_largest",
        "dead", "saturated"};
    return names[static_cast<std::size_t>(measure)];
}

std::string_view layerOf(std::string_view parameter)
{
    return parameter.substr(0, parameter.rfind('.'));
}

std::vector<LayerFigures> figuresOf(const StepSample& sample, LayerGrouping grouping)
{
    std::map<std::string_view, ParameterSamples> parameters;
    std::vector<std::string_view> order;
    RowNames names;
    for (const TensorSample& tensor : sample.tensors) {
        if (tensor.role == TensorRole::Activation) {
            names.addActivation(tensor.tensor);
            continue;
        }
        if (tensor.role == TensorRole::ActivationGradient) {
            continue;
        }
        const auto [found, isNew] = parameters.try_emplace(tensor.tensor);
        if (isNew) {
            order.push_back(tensor.tensor);
        }
        ParameterSamples& parameter = found->second;
        switch (tensor.role) {
        case TensorRole::Weight:
            parameter.weight = &tensor;
            break;
        case TensorRole::Reference:
            parameter.reference = &tensor;
            break;
        case TensorRole::Scaled:
            parameter.scaled = &tensor;
            parameter.last = &tensor;
            break;
        case TensorRole::Unscaled:
            parameter.unscaled = &tensor;
            parameter.last = &tensor;
            break;
        case TensorRole::Clipped:
            parameter.last = &tensor;
            break;
        case TensorRole::Update:
            parameter.update = &tensor;
            break;
        case TensorRole::Activation:
        case TensorRole::ActivationGradient:
            break;
        }
    }
    std::map<std::string, RowSums, std::less<>> sums;
    for (const std::string_view name : order) {
        const std::string row(grouping == LayerGrouping::Layers ? layerOf(name) : name);
        names.addParameter(row, layerOf(name));
        sums[row].add(parameters[name], sample.scale);
    }
    for (const TensorSample& tensor : sample.tensors) {
        if (tensor.role == TensorRole::Activation) {
            sums[tensor.tensor].add(tensor);
        }
    }
    std::vector<LayerFigures> figures;
    for (const std::string& name : names.names()) {
        figures.push_back({name, sums.at(name).values()});
    }
    return figures;
}

} // namespace mantissa
