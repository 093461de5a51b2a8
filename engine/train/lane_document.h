/// Lanes as JSON documents: checked reading, and writing what differs from the defaults.
#pragma once

#include "engine/train/experiment.h"

#include <string>

namespace mantissa {

/// Where a document stands, for messages: the file ("" if none) and what precedes a path in it ("lanes[1].").
struct DocumentPlace
{
    std::string source;
    std::string prefix;
};

/// Throws Error (InvalidArgument): "source: prefix+path text".
[[noreturn]] void failAt(const DocumentPlace& place, const std::string& path, const std::string& text);

/// The text at a key of an object, empty if the key is not there.
std::string optionalTextAt(const nlohmann::json& document, const std::string& key, const DocumentPlace& place);

enum class DocumentUse {
    Complete, ///< null is a wrong type
    Patch ///< null removes a key
};

/// Checks every key and value of a document of settings by itself: whether the key exists, type, range. "name" and the
/// keys in `otherKeys` are left to the caller.
void checkSettings(const nlohmann::json& document, DocumentUse use, const DocumentPlace& place,
    const std::vector<std::string>& otherKeys = {"name"});

/// Reads a document that checkSettings() has accepted. "name" is missing: the policy's name. Does not check settings
/// against each other; findFault() does.
LaneConfig readLane(const nlohmann::json& document);

/// A lane's settings that differ from the defaults or that its document names. readLane() gives the lane back.
nlohmann::json documentOf(const LaneConfig& lane);

/// Lays a patch over a document, both accepted by checkSettings(). Where the patch names the family of the scaler, the
/// document's parameters that this family does not have, or not with such values, go first.
void mergeSettings(nlohmann::json& document, const nlohmann::json& patch);

/// A pointer to the value at a dotted path of nested objects, or null.
const nlohmann::json* valueAt(const nlohmann::json& document, const std::string& path);

/// An object nested as the dotted path says, with `value` at its end: "a.b" -> {"a": {"b": value}}. What follows
/// "precision.overrides." is one key, dots or not.
nlohmann::json nestedAt(const std::string& path, const nlohmann::json& value);

} // namespace mantissa
