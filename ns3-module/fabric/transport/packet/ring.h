// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_RING_H
#define WEIR_FABRIC_TRANSPORT_PACKET_RING_H

#include <cstdint>
#include <memory>

namespace weir
{

/** A queue of plain values in one piece of memory that doubles when it is full. 24 bytes. */
template <typename T>
class Ring
{
  public:
    bool IsEmpty() const
    {
        return m_first == m_end;
    }

    uint32_t Size() const
    {
        return m_end - m_first;
    }

    /** The oldest one; there must be one. */
    T& Front()
    {
        return m_values[m_first & m_mask];
    }

    const T& Front() const
    {
        return m_values[m_first & m_mask];
    }

    /** Where the oldest one is, or would be; to be fetched ahead. */
    const T* FrontPlace() const
    {
        return m_values.get() + (m_first & m_mask);
    }

    /** Where the next one will be, to prefetch it. */
    const T* EndPlace() const
    {
        return m_values.get() + (m_end & m_mask);
    }

    /** The newest one; there must be one. */
    const T& Newest() const
    {
        return m_values[(m_end - 1) & m_mask];
    }

    /** The one that came @p i after the oldest. */
    const T& At(uint32_t i) const
    {
        return m_values[(m_first + i) & m_mask];
    }

    void Push(const T& value)
    {
        if (Size() == m_mask + 1)
        {
            Grow();
        }
        m_values[m_end++ & m_mask] = value;
    }

    /** Puts a value before the one that is @p i after the oldest. O(i). */
    void Insert(uint32_t i, const T& value)
    {
        if (Size() == m_mask + 1)
        {
            Grow();
        }
        m_first--;
        for (uint32_t k = 0; k < i; k++)
        {
            m_values[(m_first + k) & m_mask] = m_values[(m_first + k + 1) & m_mask];
        }
        m_values[(m_first + i) & m_mask] = value;
    }

    T Pop()
    {
        return m_values[m_first++ & m_mask];
    }

    /** Takes out the newest one; there must be one. */
    T PopNewest()
    {
        return m_values[--m_end & m_mask];
    }

  private:
    static constexpr uint32_t MIN_CAPACITY = 8;

    void Grow()
    {
        const uint32_t capacity = m_values ? 2 * (m_mask + 1) : MIN_CAPACITY;
        auto values = std::make_unique<T[]>(capacity);
        const uint32_t size = Size();
        for (uint32_t i = 0; i < size; i++)
        {
            values[i] = At(i);
        }
        m_values = std::move(values);
        m_mask = capacity - 1;
        m_first = 0;
        m_end = size;
    }

    std::unique_ptr<T[]> m_values;
    uint32_t m_mask{~uint32_t{0}}; //!< capacity - 1
    uint32_t m_first{0};
    uint32_t m_end{0};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_RING_H
