#include "engine/backends/cpu/parts.h"

namespace mantissa::cpu {

void countTensor(const Target& target, std::size_t elements, int threads)
{
    if (target.census == nullptr) {
        return;
    }
    forPartsOf(target, threads, elements, 1, [](std::size_t begin, std::size_t end, const Target& own) {
        const Source stored {own.dtype, own.data};
        Block values;
        std::uint16_t discarded[blockElements];
        Target counter = own;
        counter.data = discarded;
        forBlocks(end - begin, [&](std::size_t offset, std::size_t n) {
            counter.finish(0, n, stored.read(begin + offset, n, values.values));
        });
    });
}

} // namespace mantissa::cpu
