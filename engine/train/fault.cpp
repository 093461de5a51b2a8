#include "engine/train/fault.h"

#include "engine/core/json_text.h"
#include "engine/train/setting_rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace mantissa {

namespace {

constexpr std::array table {
    FaultInfo {FaultKind::NanSample, "fault.nan_sample", "1"},
    FaultInfo {FaultKind::HugeSample, "fault.huge_sample", "10000"},
    FaultInfo {FaultKind::LossSpike, "fault.loss_spike", "1000"},
    FaultInfo {FaultKind::GradientInf, "fault.gradient_inf", "\"fc1\""},
    FaultInfo {FaultKind::LrJump, "fault.lr_jump", "100"},
    FaultInfo {FaultKind::ExplodingInit, "fault.exploding_init", "10"},
    FaultInfo {FaultKind::Saturation, "fault.saturation", "100"},
    FaultInfo {FaultKind::Rank, "fault.at_rank", "1"},
};

} // namespace

std::span<const FaultInfo> faultTable()
{
    return table;
}

const FaultInfo* faultNamed(std::string_view path)
{
    const auto* const found = std::ranges::find(table, path, &FaultInfo::path);
    return found == table.end() ? nullptr : found;
}

std::string faultProblem(const LaneConfig& lane, const FaultInfo& fault, const nlohmann::json& value)
{
    const bool isSample = fault.kind == FaultKind::NanSample || fault.kind == FaultKind::HugeSample;
    if (isSample && dataKind(lane.data.kind).isTokens) {
        return fmt::format("cannot be: the samples of {} data are whole numbers, tokens, which are neither NaN nor "
                           "large; use fault.loss_spike or fault.gradient_inf",
            lane.data.kind);
    }
    if (fault.kind == FaultKind::NanSample) {
        const Range<std::int64_t> counts {1, lane.data.batch};
        const auto count = integerOf<std::int64_t>(value);
        return count && counts.holds(*count) ? "" : rows::problem(value, "an integer", counts.text());
    }
    if (fault.kind == FaultKind::Rank) {
        const Range<std::int64_t> ranks {0, lane.parallel.ranks - 1};
        const auto rank = integerOf<std::int64_t>(value);
        return rank && ranks.holds(*rank)
            ? ""
            : rows::problem(value, "an integer",
                ranks.text() + ", the lane's ranks (parallel.ranks is " + std::to_string(lane.parallel.ranks) + ")");
    }
    if (fault.kind == FaultKind::GradientInf) {
        const bool isName = value.is_string() && !value.get_ref<const std::string&>().empty();
        return isName ? "" : rows::problem(value, "a text", "naming a layer or a parameter");
    }
    constexpr Range<double> factors {0, std::numeric_limits<float>::max(), false};
    return value.is_number() && factors.holds(value.get<double>()) ? ""
                                                                   : rows::problem(value, "a number", factors.text());
}

} // namespace mantissa
