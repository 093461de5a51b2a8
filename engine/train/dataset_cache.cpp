#include "engine/train/dataset_cache.h"

#include "engine/train/model_task.h"

namespace mantissa {

std::shared_ptr<const Dataset> DatasetCache::get(const LaneConfig& lane)
{
    nlohmann::json key = lane.document.value("data", nlohmann::json::object());
    for (const char* howItIsRead : {"batch", "prefetch", "throttle_ms"}) {
        key.erase(howItIsRead);
    }
    key["seed"] = lane.seed;
    key["as_targets"] = !usesLabels(lane);
    auto& entry = m_datasets[key.dump()];
    if (!entry) {
        auto data = std::make_shared<Dataset>(loadDataset(lane.data, lane.seed, m_directory));
        if (!usesLabels(lane)) {
            labelsToTargets(*data);
        }
        entry = std::move(data);
    }
    return entry;
}

} // namespace mantissa
