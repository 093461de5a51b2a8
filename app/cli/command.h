/// What all commands of mantissa-cli share: how they register, how they end, how they say no.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <stdexcept>

namespace mantissa::cli {

/// Exit codes (design.md, section 8).
inline constexpr int exitDone = 0;
inline constexpr int exitFailed = 1;
inline constexpr int exitBadInput = 2;
inline constexpr int exitNotAsExpected = 3;

/// Wrong arguments or invalid input: its text goes to stderr, the program ends with exitBadInput.
class BadInput : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// What the chosen command does once all arguments are read; returns the exit code.
using Action = std::function<int()>;

// Each adds its command to `app` and, if it is the one given, stores its action in `chosen`.
void addRunCommand(CLI::App& app, Action& chosen);
void addResumeCommand(CLI::App& app, Action& chosen);
void addRunsCommand(CLI::App& app, Action& chosen);
void addScalerCommand(CLI::App& app, Action& chosen);
void addFormatCommand(CLI::App& app, Action& chosen);
void addDevicesCommand(CLI::App& app, Action& chosen);
void addMemoryCommand(CLI::App& app, Action& chosen);
void addDiagnoseCommand(CLI::App& app, Action& chosen);
void addTraceCommand(CLI::App& app, Action& chosen);
void addVerifyCommand(CLI::App& app, Action& chosen);
void addBenchCommand(CLI::App& app, Action& chosen);
void addExportPytorchCommand(CLI::App& app, Action& chosen);
void addExportWeightsCommand(CLI::App& app, Action& chosen);
void addProtocolCommand(CLI::App& app, Action& chosen);
void addImportCommand(CLI::App& app, Action& chosen);
void addSweepCommand(CLI::App& app, Action& chosen);

/// --db, into `file`: a name that is given is not empty.
CLI::Option* addDatabaseOption(CLI::App& command, std::string& file);

} // namespace mantissa::cli
