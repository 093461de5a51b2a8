#include "tests/support/allocation_count.h"

#include <link.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<std::uint64_t> allocations {0};

struct AddressRange
{
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

int findDnnl(dl_phdr_info* info, std::size_t /*size*/, void* result)
{
    if (std::strstr(info->dlpi_name, "libdnnl") == nullptr) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
            const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
            *static_cast<AddressRange*>(result) = {begin, begin + segment.p_memsz};
        }
    }
    return 1;
}

void* allocate(std::size_t bytes, const void* caller)
{
    static const AddressRange dnnl = [] {
        AddressRange range;
        dl_iterate_phdr(findDnnl, &range);
        return range;
    }();
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    if (address < dnnl.begin || address >= dnnl.end) {
        allocations.fetch_add(1, std::memory_order_relaxed);
    }
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) {
        return memory;
    }
    throw std::bad_alloc();
}

} // namespace

namespace mantissa::test {

std::uint64_t allocationCount()
{
    return allocations.load(std::memory_order_relaxed);
}

} // namespace mantissa::test

void* operator new(std::size_t bytes)
{
    return allocate(bytes, __builtin_return_address(0));
}

void* operator new[](std::size_t bytes)
{
    return allocate(bytes, __builtin_return_address(0));
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory, std::size_t /*bytes*/) noexcept
{
    std::free(memory);
}
