#include "tests/cuda/host_layer/fiber_engine.h"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

extern "C" {
uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

/// Saves the callee's registers and stack pointer in *save and goes on where `target` was saved.
void mantissaSwitchStack(void** save, void* target);
}

asm(R"(
.text
.globl mantissaSwitchStack
.type mantissaSwitchStack, @function
mantissaSwitchStack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size mantissaSwitchStack, .-mantissaSwitchStack
)");

namespace mantissa::host_layer {

namespace {

constexpr unsigned warpSize_ = 32;
constexpr std::size_t stackBytes = std::size_t {256} * 1024;
constexpr std::size_t guardBytes = 4096;
constexpr std::size_t redZone = 64;
constexpr std::size_t arenaBytes = std::size_t {256} * 1024;
constexpr std::byte redZoneByte {0xA5};

struct Fiber
{
    void* stackPointer = nullptr;
    std::byte* stack = nullptr;
};

enum class State { Fresh, Ready, AtBarrier, InWarp, Done };

struct Thread
{
    unsigned index = 0;
    State state = State::Fresh;
    Fiber* fiber = nullptr;
    uint3 id {};
    Site site {};
    std::uint64_t value = 0;
    unsigned source = 0;
    std::uint64_t result = 0;
};

/// Which lanes can run: bit p stands for the p-th lane in the launch's order.
struct Warp
{
    std::uint32_t fresh = 0;
    std::uint32_t ready = 0;
    unsigned inWarp = 0; ///< lanes that wait for the others
};

bool isSame(Site a, Site b)
{
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

std::string text(Site site)
{
    return fmt::format("{}:{}", site.file, site.line);
}

/// Shared memory of one block, a red zone behind each array.
class Arena
{
public:
    void reset(std::size_t dynamicBytes)
    {
        m_offsets.clear();
        m_zones.clear();
        m_used = 0;
        m_dynamic = take(dynamicBytes);
    }

    void* array(const void* key, std::size_t bytes)
    {
        const auto found = m_offsets.find(key);
        const std::size_t offset = found != m_offsets.end() ? found->second : take(bytes);
        m_offsets[key] = offset;
        return m_bytes.data() + offset;
    }

    void* dynamic() { return m_bytes.data() + m_dynamic; }

    [[nodiscard]] bool isIntact() const
    {
        return std::all_of(m_zones.begin(), m_zones.end(), [this](std::size_t zone) {
            return std::all_of(m_bytes.data() + zone, m_bytes.data() + zone + redZone,
                [](std::byte byte) { return byte == redZoneByte; });
        });
    }

private:
    std::size_t take(std::size_t bytes)
    {
        const std::size_t offset = m_used;
        const std::size_t zone = offset + bytes;
        m_used = (zone + redZone + 127) / 128 * 128;
        if (m_used > m_bytes.size()) {
            throw std::runtime_error("the shared memory of the host layer is used up");
        }
        std::fill_n(m_bytes.data() + offset, bytes, std::byte {0xFF});
        std::fill_n(m_bytes.data() + zone, redZone, redZoneByte);
        m_zones.push_back(zone);
        return offset;
    }

    std::vector<std::byte> m_bytes = std::vector<std::byte>(arenaBytes);
    std::map<const void*, std::size_t> m_offsets;
    std::vector<std::size_t> m_zones;
    std::size_t m_used = 0;
    std::size_t m_dynamic = 0;
};

void fiberMain();

class Engine
{
public:
    void setOrder(Order order)
    {
        m_order = order;
        m_random.seed(1);
    }

    bool run(dim3 grid, dim3 block, std::size_t dynamicBytes, const std::function<void()>& body, std::string& fault)
    {
        gridDim = grid;
        blockDim = block;
        m_body = &body;
        m_fault.clear();
        for (const unsigned index : permutation(grid.x * grid.y * grid.z)) {
            blockIdx = {index % grid.x, index / grid.x % grid.y, index / grid.x / grid.y};
            m_arena.reset(dynamicBytes);
            runBlock();
            if (m_fault.empty() && !m_arena.isIntact()) {
                m_fault = "something was written past the end of a shared array";
            }
            if (!m_fault.empty()) {
                fault = fmt::format("block ({}, {}, {}): {}", blockIdx.x, blockIdx.y, blockIdx.z, m_fault);
                return false;
            }
        }
        return true;
    }

    // --- called from fibers ---

    void blockBarrier(Site site)
    {
        m_current->site = site;
        wait(State::AtBarrier);
    }

    std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned source, Site site)
    {
        Thread& self = *m_current;
        self.value = value;
        self.source = source;
        self.site = site;
        const std::size_t first = self.index / warpSize_ * warpSize_;
        if (mask != 0xffffffffU || first + warpSize_ > m_threads.size()) {
            m_fault = fmt::format("{}: the mask {:x} names lanes that are not there", text(site), mask);
            giveUp();
        }
        Warp& warp = m_warps[self.index / warpSize_];
        if (++warp.inWarp < warpSize_) {
            wait(State::InWarp);
            return self.result;
        }
        const std::span<Thread> lanes(m_threads.data() + first, warpSize_);
        for (Thread& lane : lanes) {
            if (!isSame(lane.site, site)) {
                m_fault = fmt::format("lanes of a warp met at {} and at {}", text(lane.site), text(site));
                giveUp();
            }
            lane.result = lane.source < warpSize_ ? lanes[lane.source].value : ~std::uint64_t {0};
            lane.state = State::Ready;
        }
        warp.inWarp = 0;
        warp.ready = ~(1U << m_position[self.index % warpSize_]); // the caller goes on at once
        return self.result;
    }

    [[nodiscard]] unsigned laneOfCaller() const { return m_current->index % warpSize_; }

    Arena& arena() { return m_arena; }

    /// A fiber's life: one thread after the other.
    void threads()
    {
        arriveInFiber(nullptr);
        for (;;) {
            (*m_body)();
            m_current->state = State::Done;
            Fiber* const self = m_current->fiber;
            m_current->fiber = nullptr;
            Warp& warp = m_warps[m_current->index / warpSize_];
            if (warp.fresh != 0) {
                enter(take(warp.fresh, m_current->index / warpSize_), self);
                continue;
            }
            m_free.push_back(self);
            switchToScheduler(*self);
        }
    }

private:
    std::vector<unsigned> permutation(unsigned n)
    {
        std::vector<unsigned> order(n);
        std::iota(order.begin(), order.end(), 0U);
        if (m_order == Order::Reverse) {
            std::reverse(order.begin(), order.end());
        } else if (m_order == Order::Shuffled) {
            std::shuffle(order.begin(), order.end(), m_random);
        }
        return order;
    }

    void runBlock()
    {
        const unsigned n = blockDim.x * blockDim.y * blockDim.z;
        m_threads.assign(n, Thread {});
        for (unsigned i = 0; i < n; ++i) {
            m_threads[i].index = i;
            m_threads[i].id = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        }
        m_warpOrder = permutation((n + warpSize_ - 1) / warpSize_);
        m_lanes = permutation(warpSize_);
        for (unsigned position = 0; position < warpSize_; ++position) {
            m_position[m_lanes[position]] = position;
        }
        m_warps.assign(m_warpOrder.size(), Warp {});
        for (unsigned i = 0; i < n; ++i) {
            m_warps[i / warpSize_].fresh |= 1U << m_position[i % warpSize_];
        }
        for (;;) {
            bool hasRun = false;
            for (const unsigned index : m_warpOrder) {
                Warp& warp = m_warps[index];
                while ((warp.fresh | warp.ready) != 0) {
                    hasRun = true;
                    resume(warp, index);
                    if (!m_fault.empty()) {
                        abandon();
                        return;
                    }
                }
            }
            if (!hasRun && (areAllDone() || !openBarrier())) {
                return;
            }
        }
    }

    [[nodiscard]] bool areAllDone() const
    {
        return std::all_of(
            m_threads.begin(), m_threads.end(), [](const Thread& thread) { return thread.state == State::Done; });
    }

    /// Nothing can run: all threads wait at one barrier, or something is wrong.
    bool openBarrier()
    {
        const Thread* const waiting = &*std::find_if(
            m_threads.begin(), m_threads.end(), [](const Thread& thread) { return thread.state != State::Done; });
        for (const Thread& thread : m_threads) {
            if (thread.state == State::Done) {
                m_fault = fmt::format("thread {} waits at {}, but thread {} has returned", waiting->index,
                    text(waiting->site), thread.index);
            } else if (thread.state != waiting->state || !isSame(thread.site, waiting->site)) {
                m_fault = fmt::format("thread {} waits at {} and thread {} at {}", waiting->index, text(waiting->site),
                    thread.index, text(thread.site));
            }
        }
        if (!m_fault.empty()) {
            abandon();
            return false;
        }
        for (Thread& thread : m_threads) {
            thread.state = State::Ready;
            m_warps[thread.index / warpSize_].ready |= 1U << m_position[thread.index % warpSize_];
        }
        return true;
    }

    /// The first thread of a set, which leaves it.
    Thread& take(std::uint32_t& set, unsigned warp)
    {
        const auto position = static_cast<unsigned>(std::countr_zero(set));
        set &= set - 1;
        return m_threads[std::size_t {warp} * warpSize_ + m_lanes[position]];
    }

    void enter(Thread& thread, Fiber* fiber)
    {
        thread.fiber = fiber;
        thread.state = State::Ready;
        m_current = &thread;
        threadIdx = thread.id;
    }

    /// The first lane that can run, in the launch's order.
    void resume(Warp& warp, unsigned index)
    {
        const bool isFresh
            = warp.ready == 0 || (warp.fresh != 0 && std::countr_zero(warp.fresh) < std::countr_zero(warp.ready));
        Thread& thread = take(isFresh ? warp.fresh : warp.ready, index);
        if (isFresh) {
            enter(thread, takeFiber());
        } else {
            m_current = &thread;
            threadIdx = thread.id;
        }
        Fiber& fiber = *thread.fiber;
        startSwitch(&m_schedulerFake, fiber.stack, stackBytes);
        mantissaSwitchStack(&m_scheduler, fiber.stackPointer);
        arriveInScheduler(m_schedulerFake);
    }

    void wait(State state)
    {
        Thread& self = *m_current;
        self.state = state;
        switchToScheduler(*self.fiber);
    }

    void switchToScheduler(Fiber& self)
    {
        void* fake = nullptr;
        startSwitch(&fake, m_schedulerStack, m_schedulerBytes);
        mantissaSwitchStack(&self.stackPointer, m_scheduler);
        arriveInFiber(fake);
    }

    /// For the reason in m_fault.
    [[noreturn]] void giveUp()
    {
        switchToScheduler(*m_current->fiber);
        std::abort(); // an abandoned fiber is never resumed
    }

    /// What suspended fibers hold on their stacks is lost, so they are not used again.
    void abandon() { m_threads.clear(); }

    Fiber* takeFiber()
    {
        if (!m_free.empty()) {
            Fiber* const fiber = m_free.back();
            m_free.pop_back();
            return fiber;
        }
        void* const memory
            = mmap(nullptr, stackBytes + guardBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::bad_alloc();
        }
        mprotect(memory, guardBytes, PROT_NONE);
        m_fibers.push_back(std::make_unique<Fiber>());
        Fiber& fiber = *m_fibers.back();
        fiber.stack = static_cast<std::byte*>(memory) + guardBytes;
        // Six registers, the entry's address, and above it the null that stands where a caller would be.
        // Stacks that begin at equal places of their pages would fight for the same lines of the cache.
        const std::size_t shift = m_fibers.size() * std::size_t {832} % (std::size_t {16} * 1024);
        auto* const top = reinterpret_cast<void**>(fiber.stack + stackBytes - shift);
        top[-1] = nullptr;
        top[-2] = reinterpret_cast<void*>(&fiberMain);
        fiber.stackPointer = top - 8;
        return &fiber;
    }

    // The address sanitizer wants to know whose stack is in use.
#if defined(__SANITIZE_ADDRESS__)
    static void startSwitch(void** fake, const void* stack, std::size_t bytes)
    {
        __sanitizer_start_switch_fiber(fake, stack, bytes);
    }

    /// A fiber is only ever entered from the scheduler, whose thread may be another one in the next launch.
    void arriveInFiber(void* fake)
    {
        __sanitizer_finish_switch_fiber(fake, &m_schedulerStack, &m_schedulerBytes);
    }

    static void arriveInScheduler(void* fake)
    {
        __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
    }
#else
    static void startSwitch(void** /*fake*/, const void* /*stack*/, std::size_t /*bytes*/) { }

    static void arriveInFiber(void* /*fake*/) { }

    static void arriveInScheduler(void* /*fake*/) { }
#endif

    Order m_order = Order::Forward;
    std::mt19937 m_random {1};
    const std::function<void()>* m_body = nullptr;
    std::string m_fault;
    Arena m_arena;
    std::vector<Thread> m_threads;
    std::vector<Warp> m_warps;
    std::vector<unsigned> m_warpOrder;
    std::vector<unsigned> m_lanes; ///< by position in the launch's order
    std::array<unsigned, warpSize_> m_position {}; ///< of each lane
    Thread* m_current = nullptr;
    std::vector<std::unique_ptr<Fiber>> m_fibers;
    std::vector<Fiber*> m_free;
    void* m_scheduler = nullptr;
    void* m_schedulerFake = nullptr;
    const void* m_schedulerStack = nullptr;
    std::size_t m_schedulerBytes = 0;
};

Engine& engine()
{
    static Engine instance;
    return instance;
}

void fiberMain()
{
    engine().threads();
}

} // namespace

void setOrder(Order order)
{
    engine().setOrder(order);
}

bool runGrid(dim3 grid, dim3 block, std::size_t dynamicBytes, const std::function<void()>& body, std::string& fault)
{
    return engine().run(grid, block, dynamicBytes, body, fault);
}

void blockBarrier(Site site)
{
    engine().blockBarrier(site);
}

void warpBarrier(unsigned mask, Site site)
{
    engine().exchange(mask, 0, 0, site);
}

std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned source, Site site)
{
    return engine().exchange(mask, value, source, site);
}

unsigned laneOfCaller()
{
    return engine().laneOfCaller();
}

void* sharedArray(const void* key, std::size_t bytes)
{
    return engine().arena().array(key, bytes);
}

void* dynamicShared()
{
    return engine().arena().dynamic();
}

} // namespace mantissa::host_layer
