#include "engine/core/readable_text.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

namespace mantissa {

std::string bytesText(std::uint64_t bytes)
{
    constexpr std::array units {"B", "KiB", "MiB", "GiB", "TiB"};
    auto amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (amount >= 1024 && unit + 1 < units.size()) {
        amount /= 1024;
        ++unit;
    }
    return fmt::format("{:.{}f} {}", amount, unit == 0 ? 0 : 1, units.at(unit));
}

std::string timeText(double unixSeconds)
{
    if (!(unixSeconds > 0)) {
        return "-";
    }
    const auto seconds = static_cast<std::time_t>(unixSeconds);
    std::tm local {};
    localtime_r(&seconds, &local);
    std::array<char, 32> text {};
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &local);
    return text.data();
}

} // namespace mantissa
