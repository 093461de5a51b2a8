// mantissa-cli format: a number's bits, value and error in each format.
#include "app/cli/command.h"
#include "app/cli/number_report.h"
#include "app/cli/output.h"
#include "engine/core/nearest_name.h"
#include "engine/store/run_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace mantissa::cli {

namespace {

constexpr std::array shownFormats {DType::Float16, DType::BFloat16, DType::Float32};

struct FormatOptions
{
    std::vector<std::string> values;
    std::string format;
    bool json = false;
};

std::vector<DType> chosenFormats(const std::string& name)
{
    if (name.empty()) {
        return {shownFormats.begin(), shownFormats.end()};
    }
    std::vector<std::string> names;
    for (const DType format : shownFormats) {
        names.emplace_back(nameOf(format));
        if (names.back() == name) {
            return {format};
        }
    }
    throw BadInput(fmt::format("--format: there is no format \"{}\" here; {}", name, suggestion(name, names)));
}

/// The bits of "0x7bff"; nothing for other texts, hexadecimal floats included.
std::optional<std::string> bitPattern(const std::string& text)
{
    const bool prefixed = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!prefixed
        || !std::all_of(text.begin() + 2, text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; })) {
        return std::nullopt;
    }
    return text.substr(2);
}

NumberReport reportPattern(const std::string& text, const std::string& digits, const std::vector<DType>& formats)
{
    if (formats.size() != 1) {
        throw BadInput(
            fmt::format("{} is a bit pattern: say which format's with --format fp16, bf16 or fp32 (as a number "
                        "it would be written {}p0)",
                text, text));
    }
    const auto most = static_cast<std::size_t>(widthOf(formats[0])) / 4;
    if (digits.size() > most) {
        throw BadInput(
            fmt::format("{} has {} hexadecimal digits; {} has {}", text, digits.size(), nameOf(formats[0]), most));
    }
    return reportBits(std::stoull(digits, nullptr, 16), formats[0]);
}

std::vector<NumberReport> reportsOf(const std::string& text, const std::vector<DType>& formats)
{
    if (const auto digits = bitPattern(text)) {
        return {reportPattern(text, *digits, formats)};
    }
    const std::optional<ExactInput> input = parseNumber(text);
    if (!input) {
        throw BadInput(
            fmt::format("\"{}\" is not a number; write 0.1, -2.5e-8, 0x1.8p-3, inf, nan, or bits like 0x7bff "
                        "with --format",
                text));
    }
    std::vector<NumberReport> reports;
    for (const DType format : formats) {
        reports.push_back(reportRounded(*input, format));
    }
    return reports;
}

Json reportJson(const NumberReport& report)
{
    return {{"bits", report.bitsText}, {"hex", report.hex}, {"value", exactNumber(report.value)},
        {"error", exactNumber(report.error)}, {"ulp", exactNumber(report.ulp)}, {"class", report.category},
        {"below", exactNumber(report.below)}, {"above", exactNumber(report.above)}};
}

std::string exactText(double value)
{
    return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

int show(const FormatOptions& options)
{
    const std::vector<DType> formats = chosenFormats(options.format);
    Json values = Json::array();
    std::string tables;
    for (const std::string& given : options.values) {
        const std::string text = given.substr(std::min(given.find_first_not_of(' '), given.size()));
        Json inFormats = Json::object();
        Table table;
        for (const char* title : {"format", "sign|exponent|fraction", "hex", "class"}) {
            table.addColumn(title, Table::Align::Left);
        }
        for (const char* title : {"value", "error", "ulp", "below", "above"}) {
            table.addColumn(title);
        }
        for (const NumberReport& report : reportsOf(text, formats)) {
            const std::string name(nameOf(report.format));
            inFormats[name] = reportJson(report);
            table.addRow({name, report.bitsText, report.hex, report.category, exactText(report.value),
                shortNumber(report.error), shortNumber(report.ulp), exactText(report.below), exactText(report.above)});
        }
        values.push_back({{"input", text}, {"formats", inFormats}});
        tables += (tables.empty() ? "" : "\n") + text + '\n' + table.text();
    }
    if (options.json) {
        printJson({{"values", values}});
    } else {
        print(tables);
    }
    return exitDone;
}

} // namespace

void addFormatCommand(CLI::App& app, Action& chosen)
{
    CLI::App* command = app.add_subcommand("format", "A number's bits, value and error in each format");
    const auto options = std::make_shared<FormatOptions>();
    command
        ->add_option(
            "values", options->values, "Numbers: 0.1, -2.5e-8, 0x1.8p-3, inf, nan; or bits like 0x7bff with --format")
        ->required();
    command->add_option("--format", options->format, "Only this one: fp16, bf16 or fp32; that of bits given");
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([=, &chosen] { chosen = [=] { return show(*options); }; });
}

} // namespace mantissa::cli
