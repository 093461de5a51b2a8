#include "engine/backends/cpu/parts.h"

#include <mutex>

// The thread sanitizer does not see how OpenMP's threads wait for each other, and is told.
#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace mantissa::cpu {

namespace {

/// A point that one thread passes before another.
struct HandOver
{
#if defined(__SANITIZE_THREAD__)
    void give()
    {
        __tsan_release(this);
    }

    void take()
    {
        __tsan_acquire(this);
    }
#else
    void give() { }

    void take() { }
#endif
};

} // namespace

void runTeam(std::size_t parts, void (*run)(void* context, std::size_t part), void* context)
{
    HandOver begin;
    HandOver end;
    begin.give();
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
    for (std::size_t part = 0; part < parts; ++part) {
        begin.take();
        run(context, part);
        end.give();
    }
    end.take();
}

void addCounts(const Target& whole, const Target& part)
{
    if (whole.census == nullptr) {
        return;
    }
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    *whole.census += *part.census;
    for (std::size_t i = 0; whole.histogram != nullptr && i < part.histogram->size(); ++i) {
        whole.histogram->at(i) += part.histogram->at(i);
    }
}

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
