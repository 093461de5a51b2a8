#include "engine/train/run_observer.h"

#include <array>
#include <utility>

namespace mantissa {

namespace {

constexpr std::array<std::pair<RunStatus, std::string_view>, 6> statusNames {{
    {RunStatus::Running, "running"},
    {RunStatus::Finished, "finished"},
    {RunStatus::Stopped, "stopped"},
    {RunStatus::Diverged, "diverged"},
    {RunStatus::Failed, "failed"},
    {RunStatus::Interrupted, "interrupted"},
}};

} // namespace

std::string_view nameOf(RunStatus status)
{
    for (const auto& [value, name] : statusNames) {
        if (value == status) {
            return name;
        }
    }
    return "unknown";
}

std::optional<RunStatus> runStatusFromName(std::string_view name)
{
    for (const auto& [value, known] : statusNames) {
        if (known == name) {
            return value;
        }
    }
    return std::nullopt;
}

} // namespace mantissa
