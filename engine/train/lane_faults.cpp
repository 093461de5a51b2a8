// What a lane does with the faults that a person injects.
#include "engine/core/error.h"
#include "engine/core/nearest_name.h"
#include "engine/train/lane.h"
#include "engine/train/model_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace mantissa {

bool Lane::isBefallen(int otherwise) const
{
    return m_faults.rank.value_or(otherwise) == rank();
}

void Lane::inject(FaultKind fault, const nlohmann::json& value)
{
    const bool isOnWeights = fault == FaultKind::ExplodingInit || fault == FaultKind::Saturation;
    if (isOnWeights && !isBefallen(rank())) {
        return;
    }
    if (fault == FaultKind::ExplodingInit) {
        const Model model = buildModel(m_config->model, trainingTask(*m_config, *m_data));
        for (std::size_t i = 0; i < model.parameters.size(); ++i) {
            m_executor->writeFloats(
                m_step.parameters[i], initialValues(model.graph, model.parameters[i], m_config->seed));
            scaleWeights(i, value.get<double>());
        }
    } else if (fault == FaultKind::Saturation) {
        scaleWeights(0, value.get<double>());
    } else {
        arm(fault, value);
    }
}

/// Those of the next step alone.
void Lane::arm(FaultKind fault, const nlohmann::json& value)
{
    // Samples are counted over the batch of all ranks; a gradient's element is rank 0's, unless a rank is named.
    const std::int64_t first = m_faults.rank ? shareOf(*m_config, *m_faults.rank).first : 0;
    switch (fault) {
    case FaultKind::NanSample:
        m_faults.nanSamples = value.get<std::int64_t>();
        m_faults.firstNan = first;
        break;
    case FaultKind::HugeSample:
        m_faults.sampleFactor = value.get<double>();
        m_faults.hugeSample = first;
        break;
    case FaultKind::LossSpike:
        m_faults.lossFactor = isBefallen(rank()) ? value.get<double>() : m_faults.lossFactor;
        break;
    case FaultKind::GradientInf:
        if (isBefallen(0)) {
            m_faults.infiniteGradients.push_back(parameterNamed(value.get<std::string>()));
        }
        break;
    case FaultKind::LrJump:
        m_faults.lrFactor = isBefallen(rank()) ? value.get<double>() : m_faults.lrFactor;
        break;
    case FaultKind::Rank:
        m_faults.rank = value.get<int>();
        break;
    case FaultKind::ExplodingInit:
    case FaultKind::Saturation:
        break; // the weights have it already
    }
}

void Lane::scaleWeights(std::size_t parameter, double factor)
{
    const ValueId id = m_step.parameters[parameter];
    std::vector<float> values = m_executor->readFloats(id);
    for (float& value : values) {
        value = static_cast<float>(value * factor);
    }
    m_executor->writeFloats(id, values);
}

/// A parameter by its own name, or the first one of a layer.
std::string Lane::parameterNamed(const std::string& layer) const
{
    std::vector<std::string> names;
    for (const ValueId id : m_step.parameters) {
        const std::string& name = m_step.graph.value(id).name;
        if (name == layer || name.starts_with(layer + ".")) {
            return name;
        }
        names.push_back(name);
    }
    throw Error(ErrorCode::InvalidArgument,
        fmt::format("fault.gradient_inf is \"{}\", but the model of lane \"{}\" has no such layer or parameter; {}",
            layer, m_config->name, suggestion(layer, names)));
}

void Lane::spoil(std::vector<std::byte>& samples) const
{
    std::vector<float> values(samples.size() / sizeof(float));
    std::memcpy(values.data(), samples.data(), samples.size());
    const BatchShare share = shareOf(*m_config, rank());
    const std::size_t perSample = values.size() / static_cast<std::size_t>(share.count);
    // Of the samples first, first + 1, ... of the whole batch, those that are here.
    const auto befallen = [&](std::int64_t first, std::int64_t count) {
        const std::int64_t begin = std::clamp<std::int64_t>(first - share.first, 0, share.count);
        const std::int64_t end = std::clamp<std::int64_t>(first + count - share.first, 0, share.count);
        return std::span(values).subspan(
            perSample * static_cast<std::size_t>(begin), perSample * static_cast<std::size_t>(end - begin));
    };
    for (float& value : befallen(m_faults.hugeSample, 1)) {
        value = static_cast<float>(value * m_faults.sampleFactor);
    }
    std::ranges::fill(befallen(m_faults.firstNan, m_faults.nanSamples), std::numeric_limits<float>::quiet_NaN());
    std::memcpy(samples.data(), values.data(), samples.size());
}

void Lane::spoilGradients()
{
    for (const std::string& name : m_faults.infiniteGradients) {
        const auto at
            = std::ranges::find_if(m_step.parameters, [&](ValueId id) { return m_step.graph.value(id).name == name; });
        const ValueId gradient = m_step.gradients[static_cast<std::size_t>(at - m_step.parameters.begin())];
        std::vector<float> values = m_executor->readFloats(gradient);
        values.front() = std::numeric_limits<float>::infinity();
        m_executor->writeFloats(gradient, values);
    }
}

} // namespace mantissa
