#include "engine/store/import_source.h"

#include "engine/store/step_chunk.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace mantissa {

bool ImportSource::knows(std::string_view field) const
{
    return std::ranges::any_of(fields, [field](const auto& known) { return known.first == field; });
}

nlohmann::json importSourceAsJson(const ImportSource& source)
{
    nlohmann::json fields = nlohmann::json::object();
    for (const auto& [field, from] : source.fields) {
        fields[field] = from;
    }
    return {{"file", source.file}, {"format", source.format}, {"run", source.run}, {"fields", std::move(fields)}};
}

std::optional<ImportSource> importSourceFromJson(const nlohmann::json& json)
{
    if (!json.is_object()) {
        return {};
    }
    ImportSource source;
    for (const auto& [key, into] :
        {std::pair("file", &source.file), std::pair("format", &source.format), std::pair("run", &source.run)}) {
        const auto found = json.find(key);
        if (found != json.end() && found->is_string()) {
            *into = found->get<std::string>();
        }
    }
    const auto fields = json.find("fields");
    if (fields != json.end() && fields->is_object()) {
        for (const auto& [field, from] : fields->items()) {
            source.fields.emplace_back(field, from.is_string() ? from.get<std::string>() : std::string());
        }
    }
    return source;
}

StepRecord unmeasuredRecord()
{
    StepRecord record;
    forEachStepColumn([&record](const char*, const auto& access) {
        using Field = std::remove_cvref_t<decltype(access(record))>;
        if constexpr (std::is_floating_point_v<Field>) {
            access(record) = std::numeric_limits<Field>::quiet_NaN();
        }
    });
    return record;
}

} // namespace mantissa
