// mantissa-cli runs delete
#include "app/cli/output.h"
#include "app/cli/runs_common.h"

#include <fmt/format.h>

namespace mantissa::cli {

int deleteRuns(const RunsOptions& options)
{
    std::string list;
    {
        const RunStore store = openRuns(options);
        for (const RunId id : options.runs) {
            const RunInfo run = runNumber(store, id);
            list += fmt::format("  run {}: {}, lane {}, {} steps\n", run.id, run.experimentName, run.lane, run.steps);
        }
    }
    if (!options.yes) {
        throw BadInput("this would delete\n" + list + "Add --yes to do it.");
    }
    RunStore store = openRuns(options, StoreAccess::ReadWrite);
    store.markDeleted(options.runs);
    if (options.purge) {
        store.purgeDeleted();
    }
    if (options.json) {
        printJson({{"deleted", options.runs}, {"purged", options.purge}});
    } else {
        print("deleted\n" + list);
    }
    return exitDone;
}

} // namespace mantissa::cli
