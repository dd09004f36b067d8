// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCRIPTS_BENCH_COLLECTIVE_PATTERNS_H
#define WEIR_SCRIPTS_BENCH_COLLECTIVE_PATTERNS_H

#include "fluid-pattern.h"
#include "random-table.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Concurrent ring all-reduces of ranks that are `stride` apart. Flow step * ranks + rank goes from
 * the rank to the next one of its ring in that step; the flow of the next one in the following step
 * waits for it.
 */
class Rings : public FluidPattern
{
  public:
    Rings(uint32_t ranks, uint32_t stride, double bytes)
        : m_ranks(ranks),
          m_stride(stride),
          m_steps(2 * (ranks / stride - 1)),
          m_chunk(std::ceil(bytes / (ranks / stride)))
    {
    }

    uint32_t Count() const override
    {
        return m_steps * m_ranks;
    }

    FluidFlow Flow(uint32_t flow) const override
    {
        return {flow % m_ranks, Next(flow), m_chunk};
    }

    uint32_t Waits(uint32_t flow) const override
    {
        return flow < m_ranks ? 0 : 1;
    }

    void AddFollowers(uint32_t flow, std::vector<uint32_t>& followers) const override
    {
        if (flow / m_ranks + 1 < m_steps)
        {
            followers.push_back((flow / m_ranks + 1) * m_ranks + Next(flow));
        }
    }

  private:
    uint32_t Next(uint32_t flow) const
    {
        return (flow % m_ranks + m_stride) % m_ranks;
    }

    uint32_t m_ranks;
    uint32_t m_stride;
    uint32_t m_steps;
    double m_chunk;
};

/**
 * An all-reduce over a double binary tree. The parent of position p is (p - 1) / 2; position p is
 * rank p in one tree and rank n - 1 - p in the other (Sanders, Speck and Traeff, "Two-tree
 * algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35, 2009). A
 * chunk goes up when both children have sent theirs, and down when the root has it. The chunks of
 * one edge are sent one after another.
 */
class Trees : public FluidPattern
{
  public:
    Trees(uint32_t ranks, double bytes)
        : m_ranks(ranks),
          m_chunk(std::ceil(bytes / 2 / CHUNKS))
    {
    }

    uint32_t Count() const override
    {
        return 2 * 2 * CHUNKS * (m_ranks - 1);
    }

    FluidFlow Flow(uint32_t flow) const override
    {
        const Hop h = HopOf(flow);
        const uint32_t child = RankOf(h.tree, h.child);
        const uint32_t parent = RankOf(h.tree, Parent(h.child));
        return h.down ? FluidFlow{parent, child, m_chunk} : FluidFlow{child, parent, m_chunk};
    }

    uint32_t Waits(uint32_t flow) const override
    {
        const Hop h = HopOf(flow);
        const uint32_t ofEdge = h.chunk > 0 ? 1 : 0;
        if (!h.down)
        {
            return ofEdge + Children(h.child);
        }
        return ofEdge + (Parent(h.child) == 0 ? Children(0) : 1);
    }

    void AddFollowers(uint32_t flow, std::vector<uint32_t>& followers) const override
    {
        Hop h = HopOf(flow);
        if (h.chunk + 1 < CHUNKS)
        {
            followers.push_back(NumberOf({h.tree, h.down, h.chunk + 1, h.child}));
        }
        if (!h.down && Parent(h.child) != 0)
        {
            followers.push_back(NumberOf({h.tree, false, h.chunk, Parent(h.child)}));
            return;
        }
        const uint32_t sender = h.down ? h.child : 0;
        for (uint32_t child = 2 * sender + 1; child <= 2 * sender + Children(sender); child++)
        {
            followers.push_back(NumberOf({h.tree, true, h.chunk, child}));
        }
    }

  private:
    static constexpr uint32_t CHUNKS = 32;

    /** One chunk on the edge between a position and its parent, in one direction. */
    struct Hop
    {
        uint32_t tree;
        bool down;
        uint32_t chunk;
        uint32_t child; //!< position of the child, from 1
    };

    Hop HopOf(uint32_t flow) const
    {
        const uint32_t row = flow / (m_ranks - 1);
        return {row / (2 * CHUNKS), row / CHUNKS % 2 == 1, row % CHUNKS, flow % (m_ranks - 1) + 1};
    }

    uint32_t NumberOf(const Hop& h) const
    {
        return ((h.tree * 2 + h.down) * CHUNKS + h.chunk) * (m_ranks - 1) + h.child - 1;
    }

    uint32_t Children(uint32_t place) const
    {
        return (2 * place + 1 < m_ranks) + (2 * place + 2 < m_ranks);
    }

    static uint32_t Parent(uint32_t place)
    {
        return (place - 1) / 2;
    }

    uint32_t RankOf(uint32_t tree, uint32_t place) const
    {
        return tree == 0 ? place : m_ranks - 1 - place;
    }

    uint32_t m_ranks;
    double m_chunk;
};

/** All-to-all, nearest destination first; all flows start at time zero. */
class AllToAll : public FluidPattern
{
  public:
    AllToAll(uint32_t ranks, double lo, double hi, uint64_t seed)
        : m_ranks(ranks),
          m_lo(lo),
          m_hi(hi),
          m_random(seed)
    {
    }

    uint32_t Count() const override
    {
        return m_ranks * (m_ranks - 1);
    }

    FluidFlow Flow(uint32_t flow) const override
    {
        const uint32_t rank = flow % m_ranks;
        return {rank, (rank + flow / m_ranks + 1) % m_ranks, m_random.Uniform(flow, m_lo, m_hi)};
    }

  private:
    uint32_t m_ranks;
    double m_lo;
    double m_hi;
    RandomTable m_random;
};

} // namespace weir

#endif // WEIR_SCRIPTS_BENCH_COLLECTIVE_PATTERNS_H
