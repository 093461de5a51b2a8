// mantissa-cli protocol: the same training in FP32 and with AMP, judged, with a report.
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "app/cli/run_experiment.h"
#include "app/cli/training.h"
#include "engine/core/error.h"
#include "engine/core/replaced_file.h"
#include "engine/protocol/protocol.h"
#include "engine/protocol/protocol_report.h"
#include "engine/store/run_store.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>

namespace mantissa::cli {

namespace {

struct ProtocolArguments
{
    RunOptions run; ///< file, --seed and --set
    ProtocolOptions protocol;
    std::string database; ///< empty: nothing is stored
    std::string report; ///< a folder, or an .html or .json file; empty: none
    bool json = false;
};

struct ReportFiles
{
    std::filesystem::path html; ///< empty: none
    std::filesystem::path json;
};

/// What --report means; makes its folder. Throws BadInput.
ReportFiles reportFiles(const std::string& given)
{
    if (given.empty()) {
        return {};
    }
    const std::filesystem::path path = given;
    const bool isHtml = path.extension() == ".html" || path.extension() == ".htm";
    const bool isJson = path.extension() == ".json";
    if (path.extension() == ".pdf") {
        throw BadInput("--report: here it is HTML and JSON (name a folder, or a file.html); PDF is the window's");
    }
    const std::filesystem::path folder = isHtml || isJson ? path.parent_path() : path;
    std::error_code problem;
    if (!folder.empty() && !std::filesystem::is_directory(folder)) {
        std::filesystem::create_directories(folder, problem);
    }
    if (problem) {
        throw BadInput(
            fmt::format("--report {}: the folder {} cannot be made: {}", given, folder.string(), problem.message()));
    }
    if (isHtml) {
        return {path, {}};
    }
    return isJson ? ReportFiles {{}, path} : ReportFiles {path / "protocol.html", path / "protocol.json"};
}

/// The old file stays until the new one is whole.
void writeText(const std::filesystem::path& file, const std::string& text)
{
    const std::filesystem::path target = replacedFile(file);
    const std::filesystem::path partial = target.string() + ".part";
    std::ofstream out(partial, std::ios::binary);
    out << text;
    out.close();
    std::error_code problem;
    if (out) {
        std::filesystem::rename(partial, target, problem);
    }
    if (!out || problem) {
        throw Error(ErrorCode::Io,
            fmt::format("the report could not be written to {}{}", file.string(),
                problem ? ": " + problem.message() : "; is the folder there, writable and not full?"));
    }
}

std::string asText(const ProtocolResult& result)
{
    const ProtocolWords words = protocolWords(result);
    std::string text = fmt::format("{}\n{}. {}\n\n", words.title, words.verdict, words.summary);
    for (const ProtocolCheck& check : result.checks) {
        text += fmt::format("{:<8} {}\n         {}\n", nameOf(check.level), check.question, check.answer);
    }
    Table table;
    table.addColumn("", Table::Align::Left);
    table.addColumn("FP32");
    table.addColumn("AMP");
    table.addColumn("AMP to FP32");
    for (const ProtocolWords::Number& number : words.numbers) {
        table.addRow({number.name, number.fp32, number.amp, number.change});
    }
    text += '\n' + table.text();
    for (const ProtocolFinding& found : result.findings) {
        text += fmt::format("\n{} ({})\n  {}\n  -> {}\n", found.finding.rule,
            findingPlace(found, static_cast<int>(result.runs.amp.size())), found.finding.title, found.finding.advice);
    }
    return text + "\nMethod: " + words.method + '\n';
}

int run(const ProtocolArguments& arguments)
{
    const Experiment experiment = experimentFor(arguments.run);
    ProtocolOptions options = arguments.protocol;
    checkDevice(options.device);
    try {
        static_cast<void>(protocolPair(experiment, options));
    } catch (const Error& error) {
        throw BadInput(fmt::format("{}: {}", arguments.run.file, error.what()));
    }
    const ReportFiles files = reportFiles(arguments.report);
    std::unique_ptr<RunWriter> writer;
    if (!arguments.database.empty()) {
        writer = openWriter(arguments.database);
        options.observers.push_back(writer.get());
    }

    catchInterrupts();
    Progress progress;
    int announced = -1;
    const ProtocolResult result = runProtocol(experiment, options, [&](const ProtocolProgress& state) {
        if (state.run != announced) {
            announced = state.run;
            progress.message(fmt::format("{} ({} of {})", state.name, state.run + 1, state.runs));
        }
        progress.show(state.status);
        return !wasInterrupted();
    });
    progress.clear();
    int code = result.verdict == ProtocolVerdict::Problem ? exitNotAsExpected : exitDone;
    if (writer) {
        writer->flush();
        if (const std::string problem = writer->problem(); !problem.empty()) {
            progress.message("mantissa-cli: the runs could not be stored: " + problem);
            code = exitFailed;
        }
    }
    const Json json = protocolJson(result);
    if (arguments.json) {
        printJson(json);
    } else {
        print(asText(result));
    }
    // Last, so that a disk that is full does not cost the result.
    if (!files.html.empty()) {
        writeText(files.html, protocolHtml(result));
        progress.message("report: " + files.html.string());
    }
    if (!files.json.empty()) {
        writeText(files.json, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
        progress.message("report: " + files.json.string());
    }
    return code;
}

} // namespace

void addProtocolCommand(CLI::App& app, Action& chosen)
{
    const auto arguments = std::make_shared<ProtocolArguments>();
    CLI::App* command = app.add_subcommand(
        "protocol", "Train the same steps in FP32 and then with AMP, and say whether they are the same training");
    command->add_option("file", arguments->run.file, "Experiment file (experiments/README.md)")->required();
    command->add_option("--lane", arguments->protocol.lane,
        "Lane whose precision and scaler AMP gets; otherwise the first that is not FP32, or FP16 with PyTorch's "
        "scaler");
    command->add_option("--steps", arguments->protocol.steps, "Steps of each training")
        ->check(CLI::Range(ProtocolOptions::leastSteps, std::int64_t {1'000'000'000}))
        ->capture_default_str();
    command
        ->add_option("--seeds", arguments->protocol.seeds,
            "So many seeds, counting up from the first: the noise is then what FP32 spreads over them")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command->add_option("--seed", arguments->protocol.seed, "The first seed; otherwise the lane's own");
    command->add_option("--device", arguments->protocol.device, "auto, cpu, cuda or reference")->capture_default_str();
    command->add_option("--threads", arguments->protocol.threads, "Compute threads; results depend on their number")
        ->check(CLI::Range(1, 1024));
    command
        ->add_option("--set", arguments->run.set,
            "PATH=VALUE for both trainings, as in optimizer.lr=0.01 (scaler.* only where there is one); may be "
            "repeated")
        ->allow_extra_args(false);
    command->add_option("--report", arguments->report,
        "Write a page to hand out: an .html or .json file, or a folder for both (protocol.html, protocol.json)");
    addDatabaseOption(*command, arguments->database)->description("Store the runs in this database; otherwise nowhere");
    command->add_flag("--json", arguments->json, "Print the result as JSON");
    command->footer(
        "The exit code is 3 if the verdict is a problem, 0 if it is healthy or caution. Ctrl+C stops within "
        "one step, without a result; the exit code is then 1.");
    command->callback([=, &chosen] { chosen = [=] { return run(*arguments); }; });
}

} // namespace mantissa::cli
