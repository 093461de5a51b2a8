// mantissa-cli: the engine without a display. Results go to stdout, everything else to stderr.
#include "app/cli/command.h"
#include "app/cli/number_arguments.h"
#include "app/cli/outcome.h"
#include "engine/core/nearest_name.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace mantissa::cli;

int say(const char* text, int code)
{
    std::fprintf(stderr, "mantissa-cli: %s\n", text);
    return code;
}

/// Throws for a word in a command's place that is none; the parser would only say that one is required.
void checkCommand(const CLI::App& app, const char* const* arguments)
{
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(command->get_name());
    }
    const std::string word = *arguments == nullptr ? "" : *arguments;
    if (names.empty() || word.empty() || word[0] == '-') {
        return;
    }
    if (std::find(names.begin(), names.end(), word) == names.end()) {
        throw BadInput("there is no command \"" + word + "\" here; " + mantissa::suggestion(word, names));
    }
    checkCommand(*app.get_subcommand(word), arguments + 1);
}

int run(int argc, char** argv)
{
    CLI::App app {"Mantissa: mixed-precision training, without a display", "mantissa-cli"};
    app.require_subcommand(1);
    app.set_version_flag("--version", MANTISSA_VERSION);
    app.footer("Exit codes: 0 done, 1 failed at run time (or stopped), 2 wrong arguments or invalid input, "
               "3 an expectation was not met, or the protocol found a problem.");
    Action chosen;
    addRunCommand(app, chosen);
    addResumeCommand(app, chosen);
    addSweepCommand(app, chosen);
    addRunsCommand(app, chosen);
    addImportCommand(app, chosen);
    addScalerCommand(app, chosen);
    addFormatCommand(app, chosen);
    addDevicesCommand(app, chosen);
    addMemoryCommand(app, chosen);
    addDiagnoseCommand(app, chosen);
    addTraceCommand(app, chosen);
    addVerifyCommand(app, chosen);
    addBenchCommand(app, chosen);
    addExportPytorchCommand(app, chosen);
    addExportWeightsCommand(app, chosen);
    addProtocolCommand(app, chosen);
    try {
        checkCommand(app, argv + 1);
        app.parse(withoutNumbersLikeOptions(argc, argv));
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        app.exit(error);
        return exitBadInput;
    } catch (const BadInput& error) {
        return say(error.what(), exitBadInput);
    }
    try {
        return chosen();
    } catch (...) {
        const Outcome outcome = outcomeOf(std::current_exception());
        return say(outcome.text.c_str(), outcome.code);
    }
}

} // namespace

int main(int argc, char** argv)
{
    // A reader that goes away (| head) is an error of a write, told like any other, not a silent death.
    std::signal(SIGPIPE, SIG_IGN);
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0 && code == exitDone) {
        return say("the output could not be written in full", exitFailed);
    }
    return code;
}
