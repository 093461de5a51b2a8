/// Tensors of rows of channels, walked in pieces that the inner loops like: several rows at once where channels are
/// few, parts of a row where they are many.
#pragma once

#include "engine/backends/cpu/operands.h"

#include <algorithm>
#include <cstddef>

namespace mantissa::cpu {

class ChannelWalk
{
public:
    explicit ChannelWalk(std::size_t channels)
        : m_channels(channels)
        , m_rowsAtOnce(channels <= blockElements / 2 ? blockElements / channels : 1)
    {
    }

    [[nodiscard]] std::size_t channels() const { return m_channels; }

    /// Length of an array with one entry per element of a piece: channels are repeated to fill it.
    [[nodiscard]] std::size_t width() const { return m_rowsAtOnce * m_channels; }

    /// Calls f(offset of the first element, its place in an array of width(), count) for rows [begin, end).
    template <typename F> void forPieces(std::size_t begin, std::size_t end, F f) const
    {
        for (std::size_t row = begin; row < end; row += m_rowsAtOnce) {
            const std::size_t count = std::min(m_rowsAtOnce, end - row) * m_channels;
            forBlocks(count, [&](std::size_t at, std::size_t n) { f(row * m_channels + at, at, n); });
        }
    }

    /// Sums the repetitions of each channel into its first entry, in a fixed order.
    void fold(double* sums) const
    {
        for (std::size_t i = m_channels; i < width(); ++i) {
            sums[i % m_channels] += sums[i];
        }
    }

    /// Repeats the first entry of each channel.
    void repeat(double* values) const
    {
        for (std::size_t i = m_channels; i < width(); ++i) {
            values[i] = values[i - m_channels];
        }
    }

private:
    std::size_t m_channels;
    std::size_t m_rowsAtOnce;
};

/// Reductions over rows are cut into so many chunks, whose sums are added in order: the result does not depend on the
/// number of threads.
inline std::size_t chunksOf(std::size_t elements)
{
    return std::clamp<std::size_t>(elements / 65536, 1, 16);
}

} // namespace mantissa::cpu
