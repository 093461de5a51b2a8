#include "app/cli/census_file.h"

#include "engine/core/error.h"
#include "engine/store/run_export.h"
#include "engine/tensor/safetensors.h"

#include <fmt/format.h>

#include <cstring>
#include <span>

namespace mantissa::cli {

CensusFile::CensusFile(JsonLines& lines)
    : m_lines(lines)
{
}

void CensusFile::runStarted(const RunStart& start)
{
    m_lanes[start.lane] = start.config.name;
}

void CensusFile::stepSampled(const std::shared_ptr<const StepSample>& sample)
{
    for (const TensorSample& tensor : sample->tensors) {
        m_lines.write(tensorAsJson(*sample, tensor, m_lanes[sample->lane]));
    }
}

TensorDump::TensorDump(std::filesystem::path folder)
    : m_folder(std::move(folder))
{
    std::error_code error;
    std::filesystem::create_directories(m_folder, error);
    if (error) {
        throw Error(ErrorCode::Io,
            fmt::format("cannot make the folder {} for the tensors: {}", m_folder.string(), error.message()));
    }
}

void TensorDump::runStarted(const RunStart& start)
{
    m_lanes[start.lane] = start.config.name;
}

void TensorDump::stepSampled(const std::shared_ptr<const StepSample>& sample)
{
    Safetensors file;
    for (const TensorSample& tensor : sample->tensors) {
        if (tensor.kept.empty()) {
            continue;
        }
        StoredTensor stored;
        stored.name = fmt::format("{}:{}", nameOf(tensor.role), tensor.tensor);
        stored.dtype = safetensorsName(DType::Float32);
        stored.shape = {static_cast<std::int64_t>(tensor.kept.size())};
        stored.bytes.resize(tensor.kept.size() * sizeof(float));
        std::memcpy(stored.bytes.data(), tensor.kept.data(), stored.bytes.size());
        file.tensors.push_back(std::move(stored));
    }
    if (file.tensors.empty()) {
        return;
    }
    file.metadata = {{"lane", m_lanes[sample->lane]}, {"step", std::to_string(sample->step)},
        {"scale", fmt::format("{}", sample->scale)}};
    try {
        writeSafetensors(m_folder / fmt::format("lane{}-step{}.safetensors", sample->lane, sample->step), file);
    } catch (const Error& error) {
        m_problem = error.what();
    }
}

} // namespace mantissa::cli
