#include "ui/compare/seed_runs.h"

#include "engine/train/train_to_end.h"

#include <algorithm>

namespace mantissa {

namespace {

QString train(
    const std::filesystem::path& database, const std::vector<RunId>& runs, int count, const BackgroundRuns::GoOn& goOn)
{
    std::vector<nlohmann::json> documents;
    std::uint64_t seed = 0;
    {
        const RunStore store(database, StoreAccess::ReadOnly);
        for (const RunId run : runs) {
            documents.push_back(store.replayExperiment(run));
        }
        for (const RunInfo& run : store.runs()) {
            seed = std::max(seed, run.seed);
        }
    }
    const int total = count * static_cast<int>(runs.size());
    int done = 0;
    for (int i = 1; i <= count; ++i) {
        for (nlohmann::json& document : documents) {
            document["seed"] = seed + static_cast<std::uint64_t>(i);
            RunWriter writer(database);
            SessionOptions options;
            options.observers = {&writer};
            Session session(parseExperiment(document.dump(), "a stored run"), options);
            bool isWanted = true;
            trainToEnd(session, [&](const SessionStatus& status) {
                isWanted = goOn(done, total,
                    static_cast<double>(status.step)
                        / static_cast<double>(std::max<std::int64_t>(status.totalSteps, 1)));
                return isWanted;
            });
            if (!isWanted) {
                return {};
            }
            ++done;
            writer.flush();
            if (const std::string problem = writer.problem(); !problem.empty()) {
                return QString::fromStdString(problem);
            }
        }
    }
    return {};
}

} // namespace

BackgroundRuns::Work seedRuns(const std::filesystem::path& database, const std::vector<RunId>& runs, int count)
{
    return [=](const BackgroundRuns::GoOn& goOn) { return train(database, runs, count, goOn); };
}

} // namespace mantissa
