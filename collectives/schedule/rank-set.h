// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_RANK_SET_H
#define WEIR_COLLECTIVES_SCHEDULE_RANK_SET_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/** Some ranks of a group, such as those whose data a buffer holds. */
class RankSet
{
  public:
    /** The empty set. */
    RankSet() = default;

    static RankSet Only(uint32_t rank, uint32_t ranks)
    {
        RankSet set;
        set.m_bits.resize((ranks + 63) / 64, 0);
        set.m_bits[rank / 64] |= uint64_t{1} << (rank % 64);
        return set;
    }

    static RankSet All(uint32_t ranks)
    {
        RankSet set;
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            set.Add(Only(rank, ranks));
        }
        return set;
    }

    bool IsEmpty() const
    {
        return m_bits.empty();
    }

    /** Adds @p other. @return false when a rank was in both. */
    bool Add(const RankSet& other)
    {
        bool apart = true;
        m_bits.resize(other.m_bits.size() > m_bits.size() ? other.m_bits.size() : m_bits.size(), 0);
        for (std::size_t i = 0; i < other.m_bits.size(); ++i)
        {
            apart = apart && (m_bits[i] & other.m_bits[i]) == 0;
            m_bits[i] |= other.m_bits[i];
        }
        return apart;
    }

    friend bool operator==(const RankSet& a, const RankSet& b)
    {
        return a.m_bits == b.m_bits;
    }

  private:
    std::vector<uint64_t> m_bits; //!< one bit per rank; empty: no rank
};

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_RANK_SET_H
