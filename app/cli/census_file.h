/// --census: one JSON object per sampled step, lane and tensor; and --dump-tensors: the tensors of one step whole.
#pragma once

#include "app/cli/json_lines.h"
#include "engine/train/run_observer.h"

#include <filesystem>
#include <map>
#include <string>

namespace mantissa::cli {

/// Writes on the session's worker thread.
class CensusFile : public RunObserver
{
public:
    explicit CensusFile(JsonLines& lines);

    void runStarted(const RunStart& start) override;
    void stepSampled(const std::shared_ptr<const StepSample>& sample) override;

private:
    JsonLines& m_lines;
    std::map<std::uint32_t, std::string> m_lanes;
};

/// One file per lane, "lane0-step12.safetensors", whose tensors are named "weight:fc1.weight", "scaled:fc1.weight",
/// ...; all are F32, which holds 16-bit values exactly.
class TensorDump : public RunObserver
{
public:
    /// Throws Error (Io) if the folder is not there and cannot be made.
    explicit TensorDump(std::filesystem::path folder);

    void runStarted(const RunStart& start) override;
    void stepSampled(const std::shared_ptr<const StepSample>& sample) override;

    /// What went wrong, in words; empty if nothing did. Once the session is over.
    [[nodiscard]] const std::string& problem() const { return m_problem; }

private:
    std::filesystem::path m_folder;
    std::map<std::uint32_t, std::string> m_lanes;
    std::string m_problem;
};

} // namespace mantissa::cli
