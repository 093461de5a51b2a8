// mantissa-cli runs export
#include "app/cli/output.h"
#include "app/cli/runs_common.h"
#include "engine/core/error.h"
#include "engine/store/run_export.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

namespace mantissa::cli {

namespace {

void writeTo(std::ostream& out, const RunStore& store, const RunsOptions& options)
{
    if (options.format == "experiment") {
        out << store.replayExperiment(options.runs.at(0)).dump(2) << '\n' << std::flush;
    } else if (options.format == "json" || options.json) {
        exportJson(out, store, options.runs);
    } else if (options.format == "ranks-csv") {
        exportRanksCsv(out, store, options.runs);
    } else {
        exportCsv(out, store, options.runs);
    }
    if (!out) {
        throw Error(ErrorCode::Io, "the export could not be written in full: is the disk full?");
    }
}

} // namespace

int exportRuns(const RunsOptions& options)
{
    const RunStore store = openRuns(options);
    for (const RunId id : options.runs) {
        runNumber(store, id); // before a file is made
    }
    if (options.format == "experiment" && options.runs.size() != 1) {
        throw BadInput("--format experiment writes the experiment of one run; name one");
    }
    if (options.out.empty()) {
        writeTo(std::cout, store, options);
        return exitDone;
    }
    std::ofstream file(options.out, std::ios::binary);
    if (!file) {
        throw Error(ErrorCode::Io, fmt::format("cannot write {}: {}", options.out, std::strerror(errno)));
    }
    writeTo(file, store, options);
    std::fprintf(stderr, "wrote %s\n", options.out.c_str());
    return exitDone;
}

} // namespace mantissa::cli
