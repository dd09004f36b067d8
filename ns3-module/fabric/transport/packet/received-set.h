// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_RECEIVED_SET_H
#define WEIR_FABRIC_TRANSPORT_PACKET_RECEIVED_SET_H

#include <cstdint>
#include <vector>

namespace weir
{

/** Which packets are there of those behind the first one that is missing: a ring of bits. */
class ReceivedSet
{
  public:
    /** Whether number @p base + @p offset is there. */
    bool Has(uint64_t number) const
    {
        return number < m_end && Bit(number);
    }

    /** @param missing the first number that is missing; @p number is behind it. @return false: had.
     */
    bool Add(uint64_t number, uint64_t missing)
    {
        if (Has(number))
        {
            return false;
        }
        if (m_count == 0)
        {
            m_end = missing;
        }
        Grow(number + 1 - missing, missing);
        for (; m_end <= number; m_end++)
        {
            Set(m_end, false);
        }
        Set(number, true);
        m_count++;
        return true;
    }

    bool IsEmpty() const
    {
        return m_count == 0;
    }

    /** Moves @p missing, which has just come, to the next number that is missing. */
    uint64_t Advance(uint64_t missing)
    {
        missing++;
        while (m_count > 0 && Has(missing))
        {
            Set(missing, false);
            m_count--;
            missing++;
        }
        return missing;
    }

    /** Forgets all up to @p missing, which is the first that is missing from now on. */
    void Forget(uint64_t from, uint64_t missing)
    {
        for (; m_count > 0 && from < missing; from++)
        {
            if (Has(from))
            {
                Set(from, false);
                m_count--;
            }
        }
    }

  private:
    bool Bit(uint64_t number) const
    {
        return !m_words.empty() &&
               (m_words[number / 64 % m_words.size()] >> (number % 64) & 1) != 0;
    }

    void Set(uint64_t number, bool value)
    {
        uint64_t& word = m_words[number / 64 % m_words.size()];
        const uint64_t bit = uint64_t{1} << (number % 64);
        word = value ? word | bit : word & ~bit;
    }

    /** Makes the ring hold @p span numbers from @p missing on. */
    void Grow(uint64_t span, uint64_t missing)
    {
        const std::size_t words = span / 64 + 2;
        if (words <= m_words.size())
        {
            return;
        }
        ReceivedSet larger;
        larger.m_words.assign(words * 2, 0);
        for (uint64_t number = missing; m_count > 0 && number < m_end; number++)
        {
            if (Has(number))
            {
                larger.Set(number, true);
            }
        }
        m_words.swap(larger.m_words);
    }

    std::vector<uint64_t> m_words;
    uint64_t m_end{0};
    uint64_t m_count{0};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_RECEIVED_SET_H
