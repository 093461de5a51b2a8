/// The protocol's result for colleagues: in words, as a page of HTML and as JSON.
#pragma once

#include "engine/protocol/protocol_result.h"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// What the report says, apart from checks and findings, which are in the result as they read.
struct ProtocolWords
{
    struct Number
    {
        std::string name {};
        std::string fp32 {};
        std::string amp {};
        std::string change {}; ///< "1.02 times", "-0.001", or empty
    };

    std::string title {};
    std::string verdict {}; ///< "Healthy", "Caution", "Problem"
    std::string summary {}; ///< what to do, in a sentence or two
    std::vector<std::pair<std::string, std::string>> settings {}; ///< name, value
    std::vector<Number> numbers {};
    std::string method {}; ///< how noise and speed were estimated
};

ProtocolWords protocolWords(const ProtocolResult& result);

std::string wordOf(Severity severity);
std::string wordOf(Confidence confidence);
std::string wordOf(CheckLevel level);

/// "clip_before_unscale (problem)" and the like: where, in how many seeds, in FP32 too.
std::string findingPlace(const ProtocolFinding& finding, int seeds);

struct ProtocolPicture
{
    std::string svg;
    double width = 0; ///< pixels
    double height = 0;
};

/// Loss with its noise band (wide), gradient norm and scale (half as wide, to stand side by side).
struct ProtocolPictures
{
    ProtocolPicture loss;
    ProtocolPicture gradNorm;
    ProtocolPicture scale;
};

ProtocolPictures protocolPictures(const ProtocolResult& result);

/// One self-contained page, A4 when printed.
std::string protocolHtml(const ProtocolResult& result);

/// {"experiment", "lane", "verdict", "settings", "checks", "numbers", "curves", "findings", "runs"}; numbers that are
/// not finite are the strings "inf", "-inf", "nan".
nlohmann::ordered_json protocolJson(const ProtocolResult& result);

} // namespace mantissa
