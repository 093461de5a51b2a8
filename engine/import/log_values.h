/// The values of one run as its log gives them, in any order, and what becomes of them: one record a step.
#pragma once

#include "engine/import/log_field.h"
#include "engine/train/event.h"
#include "engine/train/step_record.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mantissa {

/// A place where the log goes on from an earlier step than it had reached, or in another file.
struct LogSeam
{
    std::int64_t step = 0; ///< the first step behind it
    std::int64_t reached = 0; ///< the last step before it
    std::uint64_t dropped = 0; ///< values before it of that step and later ones: the run made them again
};

class LogValues
{
public:
    void add(LogField field, std::int64_t step, double value);

    /// Ends a row: what is added next stands behind it in the file.
    void endRow() { ++m_row; }

    /// What is added next is the first of another file.
    void beginFile() { m_fileRows.push_back(m_row); }

    /// Puts all in order: drops what was made again, keeps the later of two values for a step. No add() after it.
    void settle();

    [[nodiscard]] bool has(LogField field) const { return !of(field).steps.empty(); }

    [[nodiscard]] const std::vector<LogSeam>& seams() const { return m_seams; }

    [[nodiscard]] std::uint64_t repeated() const
    {
        return m_repeated;
    } ///< values that a later one for the step replaced

    [[nodiscard]] bool wasUnsorted() const { return m_wasUnsorted; }

    [[nodiscard]] std::int64_t firstStep() const; ///< after settle(); 0 without values
    [[nodiscard]] std::int64_t lastStep() const; ///< -1 without values

    /// Of a field, after settle(): steps rise.
    [[nodiscard]] std::span<const std::int64_t> stepsOf(LogField field) const { return of(field).steps; }

    [[nodiscard]] std::span<const double> valuesOf(LogField field) const { return of(field).values; }

    /// Replaces the values of a field, by rising steps.
    void replace(LogField field, std::vector<std::int64_t> steps, std::vector<double> values);

    void clear(LogField field) { of(field) = {}; }

    /// Calls take(step, values by field; NaN: none) for every step with a value, in order.
    using Values = std::array<double, logFieldCount>;
    using Present = std::array<bool, logFieldCount>;
    void forEachStep(
        const std::function<void(std::int64_t step, const Values& values, const Present& isPresent)>& take) const;

private:
    struct Series
    {
        std::vector<std::int64_t> steps;
        std::vector<double> values;
        std::vector<std::uint32_t> rows;
    };

    [[nodiscard]] Series& of(LogField field) { return m_series[static_cast<std::size_t>(field)]; }

    [[nodiscard]] const Series& of(LogField field) const { return m_series[static_cast<std::size_t>(field)]; }

    /// The one whose order tells where the run was begun again: the loss, if there is one.
    [[nodiscard]] const Series& leading() const;
    void findSeams();
    void settle(Series& series);

    std::array<Series, logFieldCount> m_series;
    std::vector<std::uint32_t> m_fileRows;
    std::vector<LogSeam> m_seams;
    std::vector<std::uint32_t> m_seamRows;
    std::uint64_t m_repeated = 0;
    std::uint32_t m_row = 0;
    bool m_wasUnsorted = false;
};

} // namespace mantissa
