#include "engine/train/step_order.h"

#include <algorithm>

namespace mantissa {

namespace {

constexpr std::array<std::string_view, stepBlockCount> names {"unscale", "check", "clip", "step", "update", "schedule"};

} // namespace

std::string_view nameOf(StepBlock block)
{
    return names.at(static_cast<std::size_t>(block));
}

std::vector<std::string> namesOf(const StepOrder& order)
{
    std::vector<std::string> list;
    for (const StepBlock block : order) {
        list.emplace_back(nameOf(block));
    }
    return list;
}

std::optional<StepOrder> orderFromNames(const std::vector<std::string>& list)
{
    StepOrder order {};
    if (list.size() != order.size() || !std::ranges::is_permutation(list, names)) {
        return std::nullopt;
    }
    std::ranges::transform(list, order.begin(),
        [](const std::string& name) { return static_cast<StepBlock>(std::ranges::find(names, name) - names.begin()); });
    return order;
}

bool comesBefore(const StepOrder& order, StepBlock first, StepBlock second)
{
    return std::ranges::find(order, first) < std::ranges::find(order, second);
}

std::size_t blocksBehindResults(const StepOrder& order)
{
    const auto isHosts = [](StepBlock block) { return block == StepBlock::Update || block == StepBlock::Schedule; };
    return static_cast<std::size_t>(std::find_if_not(order.rbegin(), order.rend(), isHosts) - order.rbegin());
}

StepOrder withClip(StepOrder order, ClipOrder clip)
{
    if (clip == ClipOrder::Off || clip == clipOrderOf(order)) {
        return order;
    }
    const auto at = std::ranges::find(order, StepBlock::Clip);
    const auto unscale = std::ranges::find(order, StepBlock::Unscale);
    if (clip == ClipOrder::ClipThenUnscale) {
        std::rotate(unscale, at, at + 1);
        return order;
    }
    // A check that is one pass with the unscaling stays so.
    const bool checksAtOnce = unscale + 1 != order.end() && unscale[1] == StepBlock::Check;
    std::rotate(at, at + 1, unscale + (checksAtOnce ? 2 : 1));
    return order;
}

ClipOrder clipOrderOf(const StepOrder& order)
{
    return comesBefore(order, StepBlock::Unscale, StepBlock::Clip) ? ClipOrder::UnscaleThenClip
                                                                   : ClipOrder::ClipThenUnscale;
}

} // namespace mantissa
