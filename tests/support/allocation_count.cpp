#include "tests/support/allocation_count.h"

#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
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

/// Null if there is no memory.
void* allocate(std::size_t bytes, std::size_t alignment, const void* caller)
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
    if (alignment <= alignof(std::max_align_t)) {
        return std::malloc(std::max<std::size_t>(bytes, 1));
    }
    return std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
}

void* required(void* memory)
{
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

} // namespace

namespace mantissa::test {

std::uint64_t allocationCount()
{
    return allocations.load(std::memory_order_relaxed);
}

} // namespace mantissa::test

// Every form of new and delete: a form left out would come from the standard library or a sanitizer, and what it
// allocates would neither be counted nor belong to free().

void* operator new(std::size_t bytes)
{
    return required(allocate(bytes, 1, __builtin_return_address(0)));
}

void* operator new[](std::size_t bytes)
{
    return required(allocate(bytes, 1, __builtin_return_address(0)));
}

void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept
{
    return allocate(bytes, 1, __builtin_return_address(0));
}

void* operator new[](std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept
{
    return allocate(bytes, 1, __builtin_return_address(0));
}

void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return required(allocate(bytes, static_cast<std::size_t>(alignment), __builtin_return_address(0)));
}

void* operator new[](std::size_t bytes, std::align_val_t alignment)
{
    return required(allocate(bytes, static_cast<std::size_t>(alignment), __builtin_return_address(0)));
}

void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept
{
    return allocate(bytes, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}

void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept
{
    return allocate(bytes, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::align_val_t /*alignment*/, const std::nothrow_t& /*tag*/) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory, std::size_t /*bytes*/) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory, std::align_val_t /*alignment*/, const std::nothrow_t& /*tag*/) noexcept
{
    std::free(memory);
}
