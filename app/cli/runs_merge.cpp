// mantissa-cli runs merge
#include "app/cli/output.h"
#include "app/cli/runs_common.h"
#include "engine/store/run_merge.h"

#include <fmt/format.h>

namespace mantissa::cli {

int mergeIntoRuns(const RunsOptions& options)
{
    const std::vector<std::filesystem::path> files(options.files.begin(), options.files.end());
    const std::vector<MergedRuns> merged = mergeRuns(options.into, files);
    if (options.json) {
        Json list = Json::array();
        for (const MergedRuns& file : merged) {
            list.push_back({{"file", file.file.string()}, {"added", file.added}, {"completed", file.completed},
                {"unchanged", file.unchanged}});
        }
        printJson({{"into", options.into}, {"files", list}});
        return exitDone;
    }
    Table table;
    table.addColumn("file", Table::Align::Left);
    for (const char* title : {"added", "completed", "there already"}) {
        table.addColumn(title);
    }
    for (const MergedRuns& file : merged) {
        table.addRow({file.file.string(), fmt::format("{}", file.added), fmt::format("{}", file.completed),
            fmt::format("{}", file.unchanged)});
    }
    print(table.text());
    return exitDone;
}

} // namespace mantissa::cli
