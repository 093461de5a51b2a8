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

void Lane::inject(FaultKind fault, const nlohmann::json& value)
{
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
    switch (fault) {
    case FaultKind::NanSample:
        m_faults.nanSamples = value.get<std::int64_t>();
        break;
    case FaultKind::HugeSample:
        m_faults.sampleFactor = value.get<double>();
        break;
    case FaultKind::LossSpike:
        m_faults.lossFactor = value.get<double>();
        break;
    case FaultKind::GradientInf:
        m_faults.infiniteGradients.push_back(parameterNamed(value.get<std::string>()));
        break;
    case FaultKind::LrJump:
        m_faults.lrFactor = value.get<double>();
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
    const std::span<float> all(values);
    const std::size_t perSample = values.size() / static_cast<std::size_t>(m_config->data.batch);
    for (float& value : all.first(perSample)) {
        value = static_cast<float>(value * m_faults.sampleFactor);
    }
    std::ranges::fill(
        all.first(perSample * static_cast<std::size_t>(m_faults.nanSamples)), std::numeric_limits<float>::quiet_NaN());
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
