#include "engine/import/column_map.h"

#include "engine/core/error.h"
#include "engine/core/nearest_name.h"
#include "engine/import/column_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mantissa {

ColumnMap::ColumnMap(Choices choices)
    : m_choices(std::move(choices))
{
}

void ColumnMap::learn(std::span<const std::string> columns)
{
    if (columns.size() <= m_learned) {
        return; // a reader from the beginning on meets them once more
    }
    m_learned = columns.size();
    m_fields.resize(columns.size());
    for (const auto& [field, name] : m_choices) {
        const auto found = std::ranges::find(columns, name);
        if (!name.empty() && !m_columns.contains(field) && found != columns.end()) {
            const auto column = static_cast<std::uint32_t>(found - columns.begin());
            m_columns[field] = column;
            m_fields[column] = field;
        }
    }
    const auto isTaken = [this, &columns](std::size_t column) {
        return m_fields[column]
            || std::ranges::any_of(m_choices, [&](const auto& choice) { return choice.second == columns[column]; });
    };
    for (const LogField field : allLogFields()) {
        if (m_columns.contains(field) || m_choices.contains(field) || m_excluded.contains(field)) {
            continue;
        }
        int best = 0;
        std::size_t at = 0;
        for (std::size_t column = 0; column < columns.size(); ++column) {
            const int fit = isTaken(column) ? 0 : fitOf(columns[column], field);
            if (fit > best) {
                best = fit;
                at = column;
            }
        }
        if (best > 0) {
            m_columns[field] = static_cast<std::uint32_t>(at);
            m_fields[at] = field;
        }
    }
}

void ColumnMap::requireChosen(std::span<const std::string> columns) const
{
    for (const auto& [field, name] : m_choices) {
        if (!name.empty() && std::ranges::find(columns, name) == columns.end()) {
            const std::vector<std::string> names(columns.begin(), columns.end());
            constexpr std::size_t few = 40;
            const std::string hint = names.size() <= few ? suggestion(name, names) : nearestName(name, names);
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("the log has no column \"{}\" to be the {}{}{}", name, nameOf(field),
                    hint.empty() ? "" : "; ",
                    names.size() <= few || hint.empty() ? hint : "did you mean \"" + hint + "\"?"));
        }
    }
}

void ColumnMap::drop(LogField field)
{
    if (const auto known = m_columns.find(field); known != m_columns.end()) {
        m_fields[known->second].reset();
        m_columns.erase(known);
    }
    m_excluded.insert(field);
}

std::optional<std::uint32_t> ColumnMap::columnOf(LogField field) const
{
    const auto found = m_columns.find(field);
    return found == m_columns.end() ? std::nullopt : std::optional(found->second);
}

std::optional<LogField> ColumnMap::fieldOf(std::uint32_t column) const
{
    return column < m_fields.size() ? m_fields[column] : std::nullopt;
}

} // namespace mantissa
