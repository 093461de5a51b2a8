#include "ui/graph/format_patch.h"

#include "engine/graph/op_def.h"

namespace mantissa {

namespace {

nlohmann::json valueOf(const std::optional<std::string>& format)
{
    return format ? nlohmann::json(*format) : nlohmann::json();
}

} // namespace

nlohmann::json patchOfOp(
    const OpMap& map, NodeIndex op, const std::optional<std::string>& format, std::string_view suffix)
{
    return nlohmann::json::object({{map.node(op).name + std::string(suffix), valueOf(format)}});
}

nlohmann::json patchOfKind(const OpMap& map, Op kind, const std::optional<std::string>& format, std::string_view suffix)
{
    nlohmann::json patch = nlohmann::json::object();
    patch[std::string(opDef(kind).name).append(suffix)] = valueOf(format);
    for (const NodeIndex op : map.opsOfKind(kind)) {
        if (map.overrideOf(op, suffix)) {
            patch[map.node(op).name + std::string(suffix)] = nullptr;
        }
    }
    return patch;
}

} // namespace mantissa
