#include "engine/core/phrase.h"
#include "engine/protocol/protocol_report.h"
#include "engine/protocol/svg_plot.h"

#include <fmt/format.h>

namespace mantissa {

namespace {

constexpr const char* style = R"(
@page { size: A4; margin: 11mm; }
* { box-sizing: border-box; }
body { font: 9.5pt/1.35 system-ui, "Noto Sans", "DejaVu Sans", sans-serif; color: #1c1c1c; background: #fff;
       max-width: 188mm; margin: 6mm auto; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
@media print { body { margin: 0 auto; font-size: 7.6pt; line-height: 1.25; } h2 { margin-top: 2mm; } }
h1 { font-size: 1.55em; margin: 0 0 2mm; }
h2 { font-size: 1.05em; margin: 3mm 0 1mm; }
.verdict { border-left: 1.6mm solid #333; background: #f3f3f3; padding: 1.6mm 3mm; }
.verdict b { font-size: 1.25em; }
dl { display: grid; grid-template-columns: max-content 1fr max-content 1fr; gap: .3mm 3mm; margin: 2mm 0; }
dt { color: #5a5a5a; } dd { margin: 0; overflow-wrap: anywhere; }
svg { display: block; max-width: 100%; height: auto; }
.pair { display: flex; justify-content: space-between; } .pair svg { width: 49.2%; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .25mm 2mm .25mm 0; border-bottom: .2mm solid #ddd; }
th { font-weight: 600; }
.numbers td + td, .numbers th + th { text-align: right; font-variant-numeric: tabular-nums; white-space: pre; }
.numbers td:first-child { white-space: pre; }
.checks td:first-child { width: 6.4em; font-weight: 600; white-space: nowrap; } .checks td:nth-child(2) { width: 16em; }
.columns { display: grid; grid-template-columns: 57% 40%; gap: 3%; align-items: start; }
.finding { margin: 0 0 1mm; } .finding span { color: #5a5a5a; }
.method, footer { color: #5a5a5a; font-size: .88em; margin: 0; } footer { margin-top: 1.5mm; }
@media screen and (max-width: 640px) { .columns, dl { display: block; } .pair { display: block; } .pair svg { width: 100%; } }
)";

const char* signOf(CheckLevel level)
{
    switch (level) {
    case CheckLevel::Fine:
        return "\u2713";
    case CheckLevel::Note:
        return "\u2013";
    case CheckLevel::Caution:
        return "\u25b2";
    case CheckLevel::Problem:
        return "\u2716";
    }
    return "";
}

std::string settingsHtml(const ProtocolWords& words)
{
    std::string out = "<dl>\n";
    for (const auto& [name, value] : words.settings) {
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", markupEscaped(name), markupEscaped(value));
    }
    return out + "</dl>\n";
}

std::string checksHtml(const ProtocolResult& result)
{
    std::string out = "<h2>" + phrase("Questions and answers") + "</h2>\n<table class=\"checks\">\n";
    for (const ProtocolCheck& check : result.checks) {
        out += fmt::format("<tr><td>{} {}</td><td>{}</td><td>{}</td></tr>\n", signOf(check.level), wordOf(check.level),
            markupEscaped(check.question), markupEscaped(check.answer));
    }
    return out + "</table>\n";
}

std::string numbersHtml(const ProtocolWords& words)
{
    std::string out = "<h2>" + phrase("Numbers")
        + "</h2>\n<table class=\"numbers\">\n<tr><th></th><th>FP32</th><th>AMP</th><th>" + phrase("AMP to FP32")
        + "</th></tr>\n";
    for (const ProtocolWords::Number& number : words.numbers) {
        out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", markupEscaped(number.name),
            markupEscaped(number.fp32), markupEscaped(number.amp), markupEscaped(number.change));
    }
    return out + "</table>\n";
}

std::string findingsHtml(const ProtocolResult& result)
{
    std::string out = "<h2>" + phrase("Findings") + "</h2>\n";
    if (result.findings.empty()) {
        return out + "<p>" + phrase("None: the diagnosis has nothing to say about either.") + "</p>\n";
    }
    for (const ProtocolFinding& found : result.findings) {
        out += fmt::format("<p class=\"finding\"><b>{}</b> <span>({}: {})</span><br>{}</p>\n",
            markupEscaped(found.finding.title), markupEscaped(found.finding.rule),
            markupEscaped(findingPlace(found, static_cast<int>(result.runs.amp.size()))),
            markupEscaped(found.finding.advice));
    }
    return out;
}

} // namespace

std::string protocolHtml(const ProtocolResult& result)
{
    const ProtocolWords words = protocolWords(result);
    const ProtocolPictures pictures = protocolPictures(result);
    std::string out = "<!DOCTYPE html>\n<html lang=\"" + phrase("en")
        + "\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
        markupEscaped(words.title), style, markupEscaped(words.title));
    out += fmt::format("<div class=\"verdict\"><b>{}.</b> {}</div>\n", words.verdict, markupEscaped(words.summary));
    out += settingsHtml(words);
    out += pictures.loss.svg;
    out += "<div class=\"pair\">\n" + pictures.gradNorm.svg + pictures.scale.svg + "</div>\n";
    out += checksHtml(result);
    out += "<div class=\"columns\">\n<div>\n" + numbersHtml(words) + "</div>\n<div>\n" + findingsHtml(result);
    out += fmt::format(
        "<h2>{}</h2>\n<p class=\"method\">{}</p>\n</div>\n</div>\n", phrase("Method"), markupEscaped(words.method));
    out += "<footer>" + phrase("Made with Mantissa.") + "</footer>\n</body>\n</html>\n";
    return out;
}

} // namespace mantissa
