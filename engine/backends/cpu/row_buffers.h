/// Scratch rows for each thread of a kernel, in the workspace.
#pragma once

#include "engine/backends/cpu/workspace.h"

#include <omp.h>

namespace mantissa::cpu {

template <typename Element> class ThreadRows
{
public:
    /// `rows` arrays of `length` elements for each of `threads` threads.
    void plan(int threads, std::size_t rows, std::size_t length, WorkspaceLayout& layout)
    {
        m_rows = rows;
        m_length = (length + 15) / 16 * 16; // threads do not share cache lines
        m_offset = layout.take(static_cast<std::size_t>(std::max(threads, 1)) * rows * m_length * sizeof(Element));
    }

    void bind(void* workspace) { m_data = reinterpret_cast<Element*>(static_cast<std::byte*>(workspace) + m_offset); }

    /// Row i of the calling thread; inside forParts() or outside of any parallel region.
    [[nodiscard]] Element* row(std::size_t i) const
    {
        return m_data + (static_cast<std::size_t>(omp_get_thread_num()) * m_rows + i) * m_length;
    }

private:
    std::size_t m_rows = 0;
    std::size_t m_length = 0;
    std::size_t m_offset = 0;
    Element* m_data = nullptr;
};

} // namespace mantissa::cpu
