// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_HUGE_PAGE_ALLOCATOR_H
#define WEIR_FABRIC_TRANSPORT_PACKET_HUGE_PAGE_ALLOCATOR_H

#include <cstddef>
#include <new>
#include <vector>

#include <sys/mman.h>

namespace weir
{

/**
 * Gives memory that begins with a line of the cache; large pieces ask the system for huge pages,
 * of which the processor needs fewer translations when places are looked at in no order.
 */
template <typename T>
struct HugePageAllocator
{
    using value_type = T;

    static constexpr std::size_t LINE = 64;
    static constexpr std::size_t HUGE_PAGE = std::size_t{2} << 20;

    HugePageAllocator() = default;

    template <typename U>
    HugePageAllocator(const HugePageAllocator<U>& /* other */)
    {
    }

    /** @throws std::bad_alloc */
    T* allocate(std::size_t count)
    {
        const std::size_t size = count * sizeof(T);
        void* memory = ::operator new(size, AlignmentOf(size));
#ifdef MADV_HUGEPAGE
        if (size >= HUGE_PAGE)
        {
            madvise(memory, size, MADV_HUGEPAGE); // without it, all is as it was
        }
#endif
        return static_cast<T*>(memory);
    }

    void deallocate(T* memory, std::size_t count)
    {
        ::operator delete(memory, AlignmentOf(count * sizeof(T)));
    }

    friend bool operator==(const HugePageAllocator& /* a */, const HugePageAllocator& /* b */)
    {
        return true;
    }

    friend bool operator!=(const HugePageAllocator& /* a */, const HugePageAllocator& /* b */)
    {
        return false;
    }

  private:
    static std::align_val_t AlignmentOf(std::size_t size)
    {
        return std::align_val_t{size >= HUGE_PAGE ? HUGE_PAGE : LINE};
    }
};

/** A vector that begins with a line of the cache, on huge pages when it is large. */
template <typename T>
using AlignedVector = std::vector<T, HugePageAllocator<T>>;

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_HUGE_PAGE_ALLOCATOR_H
