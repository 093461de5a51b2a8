/// Per-channel sums over rows, and values per channel.
#pragma once

#include "engine/backends/cpu/channel_walk.h"
#include "engine/backends/cpu/simd/simd_kernels.h"
#include "engine/backends/cpu/workspace.h"

namespace mantissa::cpu {

/// A few arrays of one double per channel, in the workspace.
class ChannelArrays
{
public:
    void plan(std::size_t arrays, std::size_t length, WorkspaceLayout& layout)
    {
        m_length = length;
        m_offset = layout.take(arrays * length * sizeof(double));
    }

    void bind(void* workspace) { m_data = reinterpret_cast<double*>(static_cast<std::byte*>(workspace) + m_offset); }

    [[nodiscard]] double* array(std::size_t i) const { return m_data + i * m_length; }

private:
    std::size_t m_length = 0;
    std::size_t m_offset = 0;
    double* m_data = nullptr;
};

/// Sums over all rows of a and of a (b - center), per channel.
class ColumnSums
{
public:
    ColumnSums(std::size_t rows, const ChannelWalk& walk, int threads)
        : m_walk(walk)
        , m_rows(rows)
        , m_chunks(std::min(rows, chunksOf(rows * walk.channels())))
        , m_threads(threads)
    {
    }

    void plan(WorkspaceLayout& layout) { m_sums.plan(2 * m_chunks, m_walk.width(), layout); }

    void bind(void* workspace) { m_sums.bind(workspace); }

    void run(const Source& a, const Source& b, const double* center) const
    {
        const auto add = simdKernels().columnProducts;
        forParts(m_threads, m_chunks, m_rows * m_walk.channels() / m_chunks, [&](std::size_t begin, std::size_t end) {
            Block scratchA;
            Block scratchB;
            for (std::size_t chunk = begin; chunk < end; ++chunk) {
                double* sums = m_sums.array(2 * chunk);
                double* products = m_sums.array(2 * chunk + 1);
                std::fill_n(sums, 2 * m_walk.width(), 0.0);
                m_walk.forPieces(m_rows * chunk / m_chunks, m_rows * (chunk + 1) / m_chunks,
                    [&](std::size_t offset, std::size_t at, std::size_t n) {
                        const float* left = a.read(offset, n, scratchA.values);
                        const float* right = b.data == a.data ? left : b.read(offset, n, scratchB.values);
                        add(sums + at, products + at, left, right, center + at, n);
                    });
                m_walk.fold(sums);
                m_walk.fold(products);
            }
        });
        for (std::size_t chunk = 1; chunk < m_chunks; ++chunk) {
            for (std::size_t c = 0; c < m_walk.channels(); ++c) {
                m_sums.array(0)[c] += m_sums.array(2 * chunk)[c];
                m_sums.array(1)[c] += m_sums.array(2 * chunk + 1)[c];
            }
        }
    }

    [[nodiscard]] double sum(std::size_t channel) const { return m_sums.array(0)[channel]; }

    [[nodiscard]] double product(std::size_t channel) const { return m_sums.array(1)[channel]; }

private:
    ChannelWalk m_walk;
    std::size_t m_rows;
    std::size_t m_chunks;
    int m_threads;
    ChannelArrays m_sums;
};

/// Vectors of one value per channel, read into or written from doubles.
inline float valueAt(const Source& source, std::size_t i)
{
    float scratch = 0.0F;
    return *source.read(i, 1, &scratch);
}

inline void storeAt(const Target& target, std::size_t i, double value)
{
    float scratch = 0.0F;
    *target.place(i, &scratch) = static_cast<float>(value);
    target.finish(i, 1, &scratch);
}

} // namespace mantissa::cpu
