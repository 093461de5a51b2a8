#include "app/cli/metrics_file.h"

#include "engine/core/error.h"
#include "engine/store/run_export.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace mantissa::cli {

MetricsFile::MetricsFile(const std::string& path)
    : m_path(path)
    , m_file(path == "-" ? stdout : std::fopen(path.c_str(), "w"))
{
    if (m_file == nullptr) {
        throw Error(ErrorCode::Io, fmt::format("cannot write the metrics to {}: {}", path, std::strerror(errno)));
    }
}

MetricsFile::~MetricsFile()
{
    if (m_file != stdout) {
        std::fclose(m_file);
    }
}

void MetricsFile::runStarted(const RunStart& start)
{
    m_lanes[start.lane] = start.config.name;
}

void MetricsFile::stepsRecorded(std::span<const StepRecord> records)
{
    for (const StepRecord& record : records) {
        if (failed()) {
            return;
        }
        nlohmann::ordered_json json = stepAsJson(record, m_lanes[record.lane]);
        // All that differs between two runs of one experiment stands in one place; the bytes stand in the summary.
        json["time_ms"]["wall"] = record.wallSeconds * 1000;
        json.erase("wall_seconds");
        json.erase("bytes");
        const std::string line = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
        if (std::fwrite(line.data(), 1, line.size(), m_file) != line.size()) {
            m_error = errno != 0 ? errno : EIO;
        }
    }
}

void MetricsFile::eventHappened(const Event&) { }

void MetricsFile::runEnded(std::uint32_t, const RunSummary&) { }

std::string MetricsFile::problem() const
{
    return fmt::format("cannot write the metrics to {}: {}", m_path == "-" ? "stdout" : m_path, std::strerror(m_error));
}

void MetricsFile::finish()
{
    if (!failed() && std::fflush(m_file) != 0) {
        m_error = errno != 0 ? errno : EIO;
    }
}

} // namespace mantissa::cli
