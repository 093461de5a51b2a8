#include "ui/sweep/sweep_axis.h"

#include "ui/plots/step_axis.h"
#include "ui/style/number_format.h"
#include "ui/sweep/result_color.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace mantissa {

namespace {

constexpr std::size_t fewValues = 7; // each is marked
constexpr double gapAtEnds = 0.5; // of the distance of categories

void markRound(SweepAxis& axis, double low, double high, const std::function<double(double)>& placeOf,
    const std::function<QString(double)>& textOf)
{
    if (axis.isLog) {
        const auto first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
        const auto last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
        const int every = std::max(1, (last - first) / 6 + 1);
        for (int power = first; power <= last; power += every) {
            const double value = std::pow(10.0, power);
            axis.marks.push_back({placeOf(value), textOf(value)});
        }
    }
    if (axis.marks.size() < 2) {
        axis.marks.clear();
        const double step = roundStep((high - low) / 5);
        for (double value = std::ceil(low / step) * step; value <= high + step * 1e-6; value += step) {
            axis.marks.push_back({placeOf(value), textOf(std::abs(value) < step * 1e-6 ? 0 : value)});
        }
    }
}

/// Puts numbers on the axis; NaN where a row has none.
void placeNumbers(
    SweepAxis& axis, const std::vector<std::optional<double>>& values, const std::function<QString(double)>& textOf)
{
    std::set<double> finite;
    for (const auto& value : values) {
        if (value && std::isfinite(*value)) {
            finite.insert(*value);
        }
    }
    const double low = finite.empty() ? 0 : *finite.begin();
    const double high = finite.empty() ? 1 : *finite.rbegin();
    axis.isLog = spansDecades(low, high);
    const auto placeOf = [low, high, isLog = axis.isLog](double value) {
        return high <= low ? 0.5 : isLog ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    };
    for (const auto& value : values) {
        axis.texts.push_back(value ? textOf(*value) : QStringLiteral("\u2013"));
        axis.places.push_back(!value    ? std::nullopt
                : std::isfinite(*value) ? std::optional(placeOf(*value))
                                        : std::optional(SweepAxis::notFinite));
    }
    if (finite.size() <= fewValues) {
        for (const double value : finite) {
            axis.marks.push_back({placeOf(value), textOf(value)});
        }
    } else {
        markRound(axis, low, high, placeOf, textOf);
    }
}

void placeCategories(SweepAxis& axis, const std::vector<QString>& texts)
{
    axis.hasCategories = true;
    std::vector<QString> categories; // in the order in which they come
    for (const QString& text : texts) {
        if (std::ranges::find(categories, text) == categories.end()) {
            categories.push_back(text);
        }
    }
    const auto placeOf = [&categories](std::size_t category) {
        return 1 - (static_cast<double>(category) + gapAtEnds) / static_cast<double>(categories.size());
    };
    for (std::size_t i = 0; i < categories.size(); ++i) {
        axis.marks.push_back({placeOf(i), categories[i]});
    }
    for (const QString& text : texts) {
        axis.texts.push_back(text);
        axis.places.emplace_back(
            placeOf(static_cast<std::size_t>(std::ranges::find(categories, text) - categories.begin())));
    }
}

SweepAxis settingAxis(const SweepTable& table, const std::string& column)
{
    SweepAxis axis;
    axis.title = settingTitle(column);
    std::vector<std::optional<double>> numbers;
    std::vector<QString> texts;
    bool areNumbers = true;
    for (const SweepRow& row : table.rows) {
        const auto value = SweepTable::value(row, column);
        areNumbers = areNumbers && value && value->is_number();
        texts.push_back(value ? QString::fromStdString(settingText(*value)) : QStringLiteral("\u2013"));
        numbers.emplace_back(areNumbers ? value->get<double>() : 0);
    }
    if (areNumbers) {
        placeNumbers(axis, numbers, [](double value) { return formatValue(value); });
    } else {
        placeCategories(axis, texts);
    }
    return axis;
}

SweepAxis resultAxis(const SweepTable& table, SweepResult result)
{
    SweepAxis axis;
    axis.title = resultTitle(result);
    axis.isResult = true;
    std::vector<std::optional<double>> values;
    for (const SweepRow& row : table.rows) {
        values.push_back(
            row.run && isKnown(*row.run, result) ? std::optional(resultOf(*row.run, result)) : std::nullopt);
    }
    placeNumbers(axis, values, [result](double value) { return resultText(value, result); });
    return axis;
}

} // namespace

bool SweepAxis::hasNotFinite() const
{
    return std::ranges::find(places, std::optional(notFinite)) != places.end();
}

std::vector<SweepAxis> axesOf(const SweepTable& table)
{
    std::vector<SweepAxis> axes;
    for (const std::string& column : table.columns) {
        axes.push_back(settingAxis(table, column));
    }
    for (const SweepResult result : allSweepResults) {
        SweepAxis axis = resultAxis(table, result);
        const auto known = std::ranges::find_if(axis.places, [](const auto& place) { return place.has_value(); });
        const bool isSame
            = std::ranges::all_of(axis.places, [&](const auto& place) { return !place || place == *known; });
        if (!isSame || result == SweepResult::FinalLoss) {
            axes.push_back(std::move(axis));
        }
    }
    return axes;
}

} // namespace mantissa
