/// --metrics: one JSON object per step and lane, as the steps happen.
#pragma once

#include "engine/train/run_observer.h"

#include <atomic>
#include <cstdio>
#include <map>
#include <string>

namespace mantissa::cli {

/// Writes on the session's worker thread. A write that fails ends the writing; failed() then tells.
class MetricsFile : public RunObserver
{
public:
    /// "-" is stdout. Throws Error (Io) if the file cannot be created.
    explicit MetricsFile(const std::string& path);
    ~MetricsFile() override;
    MetricsFile(const MetricsFile&) = delete;
    MetricsFile& operator=(const MetricsFile&) = delete;

    void runStarted(const RunStart& start) override;
    void stepsRecorded(std::span<const StepRecord> records) override;
    void eventHappened(const Event& event) override;
    void runEnded(std::uint32_t lane, const RunSummary& summary) override;

    /// Any thread may ask.
    [[nodiscard]] bool failed() const { return m_error != 0; }

    /// Why, in words, once failed().
    [[nodiscard]] std::string problem() const;
    /// Writes what is buffered; call when the session is over.
    void finish();

private:
    std::string m_path;
    std::FILE* m_file = nullptr;
    std::atomic<int> m_error = 0; ///< errno
    std::map<std::uint32_t, std::string> m_lanes;
};

} // namespace mantissa::cli
