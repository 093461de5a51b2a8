#include "engine/import/log_field.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

struct Row
{
    LogField field;
    std::string_view name;
    std::string_view words;
};

constexpr std::array<Row, logFieldCount> rows {{
    {LogField::Step, "step", "step"},
    {LogField::Run, "run", "name of the run"},
    {LogField::Loss, "loss", "training loss"},
    {LogField::GradNorm, "grad_norm", "gradient norm, before clipping"},
    {LogField::GradNormClipped, "grad_norm_clipped", "gradient norm, after clipping"},
    {LogField::GradMax, "grad_max", "largest gradient element"},
    {LogField::Scale, "scale", "loss scale"},
    {LogField::GrowthTracker, "growth_tracker", "steps since the scale moved"},
    {LogField::LearningRate, "lr", "learning rate"},
    {LogField::FoundInf, "found_inf", "gradient not finite (0 or 1)"},
    {LogField::Skipped, "skipped", "step skipped (0 or 1, or a count)"},
    {LogField::Flushed, "flushed", "share of the gradient flushed to zero"},
    {LogField::Subnormal, "subnormal", "share of the gradient subnormal"},
    {LogField::Overflowed, "overflowed", "share of the gradient overflowed"},
    {LogField::UpdateRatio, "update_ratio", "update to weights"},
    {LogField::ValidationLoss, "validation_loss", "validation loss"},
    {LogField::ValidationAccuracy, "validation_accuracy", "validation accuracy (0 to 1)"},
    {LogField::WallTime, "wall_seconds", "time in seconds"},
}};

} // namespace

std::string_view nameOf(LogField field)
{
    return rows.at(static_cast<std::size_t>(field)).name;
}

std::optional<LogField> logFieldNamed(std::string_view name)
{
    const auto found = std::ranges::find(rows, name, &Row::name);
    return found == rows.end() ? std::nullopt : std::optional(found->field);
}

std::span<const LogField> allLogFields()
{
    static const auto all = [] {
        std::array<LogField, logFieldCount> fields {};
        std::ranges::transform(rows, fields.begin(), &Row::field);
        return fields;
    }();
    return all;
}

std::string_view wordsFor(LogField field)
{
    return rows.at(static_cast<std::size_t>(field)).words;
}

bool mayBeNaN(LogField field)
{
    switch (field) {
    case LogField::Loss:
    case LogField::GradNorm:
    case LogField::GradNormClipped:
    case LogField::GradMax:
        return true;
    default:
        return false;
    }
}

} // namespace mantissa
