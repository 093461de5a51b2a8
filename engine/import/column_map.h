/// Which column of a log is which field: as a person says, else guessed from the names.
#pragma once

#include "engine/import/log_field.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mantissa {

class ColumnMap
{
public:
    /// The name of a column, or "" for none.
    using Choices = std::map<LogField, std::string>;

    explicit ColumnMap(Choices choices = {});

    /// Fields that the log has by itself, or that no column can be.
    void exclude(LogField field) { m_excluded.insert(field); }

    /// All columns known so far, in their order. A field that has one keeps it.
    void learn(std::span<const std::string> columns);
    /// Throws Error (InvalidArgument) if a chosen column is not among them.
    void requireChosen(std::span<const std::string> columns) const;
    /// Takes a guess back, and guesses the field no more.
    void drop(LogField field);

    [[nodiscard]] std::optional<std::uint32_t> columnOf(LogField field) const;
    [[nodiscard]] std::optional<LogField> fieldOf(std::uint32_t column) const;

    [[nodiscard]] bool isChosen(LogField field) const { return m_choices.contains(field); }

private:
    Choices m_choices;
    std::set<LogField> m_excluded;
    std::map<LogField, std::uint32_t> m_columns;
    std::vector<std::optional<LogField>> m_fields; ///< by column
    std::size_t m_learned = 0;
};

} // namespace mantissa
