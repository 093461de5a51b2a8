#include "tests/support/tensor_compare.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

namespace mantissa::test {

namespace {

constexpr std::array censusNames {"zero", "flushed", "subnormal", "normal", "overflowed", "infinite", "nan"};

std::size_t histogramBin(double source)
{
    return (std::bit_cast<std::uint32_t>(static_cast<float>(source)) >> 23U) & 0xffU;
}

/// Counts of what is certain, and how many elements are not.
template <std::size_t size> struct Certain
{
    std::array<std::uint64_t, size> counts {};
    std::uint64_t open = 0;

    template <typename Classify> void add(const Expectation& source, Classify classify)
    {
        const double low = source.exact - source.error;
        const double high = source.exact + source.error;
        const bool passesZero = source.error > 0 && low <= 0 && high >= 0;
        // Otherwise a NaN or an infinity is certain: a finite error only speaks of finite values.
        if (source.error == anything) {
            ++open;
        } else if (!std::isfinite(source.exact)) {
            ++counts.at(classify(source.exact));
        } else if (passesZero || classify(low) != classify(high)) {
            ++open;
        } else {
            ++counts.at(classify(low));
        }
    }

    [[nodiscard]] bool allows(std::size_t index, std::uint64_t count) const
    {
        return count >= counts.at(index) && count <= counts.at(index) + open;
    }
};

} // namespace

bool Expectation::accepts(DType dtype, double actual) const
{
    if (error == anything) {
        return true;
    }
    if (std::isnan(exact)) {
        return std::isnan(actual);
    }
    if (std::isinf(exact)) {
        return actual == exact;
    }
    return actual >= roundTo(dtype, exact - error) && actual <= roundTo(dtype, exact + error);
}

std::string Expectation::text(DType dtype) const
{
    if (error == anything) {
        return "anything";
    }
    return fmt::format("{:.17g} +- {:.3g}, so {:.9g} to {:.9g} in {}", exact, error, roundTo(dtype, exact - error),
        roundTo(dtype, exact + error), nameOf(dtype));
}

std::size_t censusClass(DType dtype, double source)
{
    const auto single = static_cast<float>(source);
    const double rounded = roundTo(dtype, source);
    if (std::isnan(rounded)) {
        return 6;
    }
    if (std::isinf(rounded)) {
        return std::isinf(single) ? 5 : 4;
    }
    if (rounded == 0) {
        return single == 0 ? 0 : 1;
    }
    return std::abs(rounded) < limitsOf(dtype).minNormal ? 2 : 3;
}

std::uint64_t censusCount(const Census& census, std::size_t censusClass)
{
    const std::array counts {
        census.zero, census.flushed, census.subnormal, census.normal, census.overflowed, census.infinite, census.nan};
    return counts.at(censusClass);
}

std::optional<std::string> checkCensus(
    DType dtype, const std::vector<Expectation>& sources, const Census& census, const ExponentHistogram* histogram)
{
    Certain<7> classes;
    Certain<256> bins;
    for (const Expectation& source : sources) {
        classes.add(source, [dtype](double value) { return censusClass(dtype, value); });
        bins.add(source, histogramBin);
    }
    if (census.total() != sources.size()) {
        return fmt::format("the census counts {} elements of {}", census.total(), sources.size());
    }
    for (std::size_t i = 0; i < censusNames.size(); ++i) {
        if (!classes.allows(i, censusCount(census, i))) {
            return fmt::format("the census has {} as {}, expected {} to {}", censusCount(census, i), censusNames.at(i),
                classes.counts.at(i), classes.counts.at(i) + classes.open);
        }
    }
    if (histogram == nullptr) {
        return std::nullopt;
    }
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < histogram->size(); ++i) {
        total += histogram->at(i);
        if (!bins.allows(i, histogram->at(i))) {
            return fmt::format("the histogram's bin {} has {}, expected {} to {}", i, histogram->at(i),
                bins.counts.at(i), bins.counts.at(i) + bins.open);
        }
    }
    if (total != sources.size()) {
        return fmt::format("the histogram counts {} elements of {}", total, sources.size());
    }
    return std::nullopt;
}

} // namespace mantissa::test
