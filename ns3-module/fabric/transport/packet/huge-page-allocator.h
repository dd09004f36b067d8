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
 * Allocates memory aligned to a cache line. For large allocations it requests huge pages, which
 * need fewer address translations under random access.
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
            madvise(memory, size, MADV_HUGEPAGE); // failure is harmless
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

/** A vector aligned to a cache line, on huge pages if it is large. */
template <typename T>
using AlignedVector = std::vector<T, HugePageAllocator<T>>;

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_HUGE_PAGE_ALLOCATOR_H
