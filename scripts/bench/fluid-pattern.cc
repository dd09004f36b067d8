// SPDX-License-Identifier: GPL-2.0-only
#include "fluid-pattern.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr double KIB = 1024;
constexpr double MIB = 1024 * KIB;
constexpr double GIB = 1024 * MIB;

/** Random numbers by index, independent of the platform and of the order of calls. */
class RandomTable
{
  public:
    explicit RandomTable(uint64_t seed)
        : m_seed(seed)
    {
    }

    /**
     * 64 random bits: Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
     * OOPSLA 2014.
     */
    uint64_t Bits(uint64_t index) const
    {
        uint64_t z = m_seed * 0xd1342543de82ef95 + (index + 1) * 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }

    /** Uniform in [0, 1). */
    double Part(uint64_t index) const
    {
        return static_cast<double>(Bits(index) >> 11) * 0x1p-53;
    }

    /** Uniform integer in [lo, hi). */
    double Uniform(uint64_t index, double lo, double hi) const
    {
        return std::floor(lo + (hi - lo) * Part(index));
    }

    /** Uniform integer below @p n; the bias of the remainder is below n / 2^64. */
    uint32_t Below(uint64_t index, uint32_t n) const
    {
        return static_cast<uint32_t>(Bits(index) % n);
    }

  private:
    uint64_t m_seed;
};

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

    uint32_t Children(uint32_t index) const
    {
        return (2 * index + 1 < m_ranks) + (2 * index + 2 < m_ranks);
    }

    static uint32_t Parent(uint32_t index)
    {
        return (index - 1) / 2;
    }

    uint32_t RankOf(uint32_t tree, uint32_t index) const
    {
        return tree == 0 ? index : m_ranks - 1 - index;
    }

    uint32_t m_ranks;
    double m_chunk;
};

/** Flows that wait for no other. */
class IndependentFlows : public FluidPattern
{
  public:
    /** @param flow computes a flow from its number, below @p count */
    IndependentFlows(uint32_t count, std::function<FluidFlow(uint32_t)> flow)
        : m_count(count),
          m_flow(std::move(flow))
    {
    }

    uint32_t Count() const override
    {
        return m_count;
    }

    FluidFlow Flow(uint32_t flow) const override
    {
        return m_flow(flow);
    }

  private:
    uint32_t m_count;
    std::function<FluidFlow(uint32_t)> m_flow;
};

std::unique_ptr<FluidPattern>
MakeIndependent(uint32_t count, std::function<FluidFlow(uint32_t)> flow)
{
    return std::make_unique<IndependentFlows>(count, std::move(flow));
}

/** All-to-all, nearest destination first; all flows start at time zero. */
std::unique_ptr<FluidPattern>
MakeAllToAll(uint32_t ranks, double lo, double hi, const RandomTable& random)
{
    return MakeIndependent(ranks * (ranks - 1), [=](uint32_t flow) -> FluidFlow {
        const uint32_t rank = flow % ranks;
        return {rank, (rank + flow / ranks + 1) % ranks, random.Uniform(flow, lo, hi)};
    });
}

/** Each rank sends to the next one on a random cycle through all ranks. */
std::unique_ptr<FluidPattern>
MakePermutation(uint32_t ranks, double bytes, const RandomTable& random)
{
    std::vector<uint32_t> order(ranks);
    std::iota(order.begin(), order.end(), 0);
    for (uint32_t i = ranks - 1; i > 0; i--)
    {
        std::swap(order[i], order[random.Below(i, i + 1)]);
    }
    return MakeIndependent(ranks, [order = std::move(order), bytes](uint32_t flow) -> FluidFlow {
        return {order[flow], order[(flow + 1) % order.size()], bytes};
    });
}

/** All ranks send to rank 0. */
std::unique_ptr<FluidPattern>
MakeIncast(uint32_t ranks, double lo, double hi, const RandomTable& random)
{
    return MakeIndependent(ranks - 1, [=](uint32_t flow) -> FluidFlow {
        return {flow + 1, 0, random.Uniform(flow, lo, hi)};
    });
}

/** Flows between random ranks, which load the links of each to 20 % for about the time of rings. */
std::unique_ptr<FluidPattern>
MakeBackground(uint32_t ranks, const RandomTable& random)
{
    constexpr double LOAD = 0.2 * 50e9; // bytes/s of each rank, 20 % of its NIC's rate
    constexpr double DURATION = 12e-3;  // seconds, about the time of the rings
    constexpr double MIN_BYTES = 16 * KIB;
    constexpr double MAX_BYTES = 16 * MIB;
    constexpr uint64_t DRAWS = 4; // random numbers per flow
    constexpr double NANOSECOND = 1e-9;
    const double mean = (MAX_BYTES - MIN_BYTES) / std::log(MAX_BYTES / MIN_BYTES); // log-uniform
    const double interval = mean / LOAD / ranks; // one flow at a random time within each
    return MakeIndependent(static_cast<uint32_t>(DURATION / interval), [=](uint32_t flow) {
        const uint64_t index = DRAWS * flow;
        const uint32_t source = random.Below(index, ranks);
        const uint32_t step = 1 + random.Below(index + 1, ranks - 1);
        const double bytes = MIN_BYTES * std::pow(MAX_BYTES / MIN_BYTES, random.Part(index + 2));
        const double start = interval * (flow + random.Part(index + 3));
        return FluidFlow{source,
                         (source + step) % ranks,
                         std::floor(bytes),
                         std::ceil(start / NANOSECOND) * NANOSECOND};
    });
}

/** Two concurrent patterns: the flows of the first, then those of the second. */
class Both : public FluidPattern
{
  public:
    Both(std::unique_ptr<FluidPattern> first, std::unique_ptr<FluidPattern> second)
        : m_first(std::move(first)),
          m_second(std::move(second)),
          m_split(m_first->Count())
    {
    }

    uint32_t Count() const override
    {
        return m_split + m_second->Count();
    }

    FluidFlow Flow(uint32_t flow) const override
    {
        return flow < m_split ? m_first->Flow(flow) : m_second->Flow(flow - m_split);
    }

    uint32_t Waits(uint32_t flow) const override
    {
        return flow < m_split ? m_first->Waits(flow) : m_second->Waits(flow - m_split);
    }

    void AddFollowers(uint32_t flow, std::vector<uint32_t>& followers) const override
    {
        if (flow < m_split)
        {
            m_first->AddFollowers(flow, followers);
            return;
        }
        const std::size_t before = followers.size();
        m_second->AddFollowers(flow - m_split, followers);
        for (std::size_t i = before; i < followers.size(); i++)
        {
            followers[i] += m_split;
        }
    }

  private:
    std::unique_ptr<FluidPattern> m_first;
    std::unique_ptr<FluidPattern> m_second;
    uint32_t m_split;
};

std::unique_ptr<FluidPattern>
MakeMix(uint32_t ranks, const RandomTable& random)
{
    constexpr uint32_t JOB = 64;
    const uint32_t job = std::min(ranks, JOB);
    if (ranks % job != 0)
    {
        throw std::invalid_argument("mix: " + std::to_string(ranks) +
                                    " ranks are no whole number of jobs of 64");
    }
    return std::make_unique<Both>(std::make_unique<Rings>(ranks, ranks / job, 256 * MIB),
                                  MakeBackground(ranks, random));
}

void
RequireCount(uint32_t ranks, uint64_t flowsPerPair)
{
    if (ranks < 2 || flowsPerPair * ranks * (ranks - 1) > std::numeric_limits<uint32_t>::max())
    {
        throw std::invalid_argument(std::to_string(ranks) +
                                    " ranks: expected at least 2, and fewer than 2^32 flows");
    }
}

} // namespace

std::unique_ptr<FluidPattern>
MakePattern(const std::string& name, uint32_t ranks, uint64_t seed)
{
    RequireCount(ranks, name == "ring" ? 2 : 1);
    const RandomTable random(seed);
    if (name == "none") // measures the cost of the fabric
    {
        return MakeIndependent(0, {});
    }
    if (name == "ring")
    {
        return std::make_unique<Rings>(ranks, 1, GIB);
    }
    if (name == "tree")
    {
        return std::make_unique<Trees>(ranks, GIB);
    }
    if (name == "all-to-all")
    {
        return MakeAllToAll(ranks, MIB, MIB, random);
    }
    if (name == "all-to-all-random")
    {
        return MakeAllToAll(ranks, 0.5 * MIB, 1.5 * MIB, random);
    }
    if (name == "permutation")
    {
        return MakePermutation(ranks, 64 * MIB, random);
    }
    if (name == "incast")
    {
        return MakeIncast(ranks, 0.5 * MIB, 1.5 * MIB, random);
    }
    if (name == "mix")
    {
        return MakeMix(ranks, random);
    }
    throw std::invalid_argument("no pattern " + name +
                                ": ring, tree, all-to-all, all-to-all-random, permutation, incast, "
                                "mix or none");
}

} // namespace weir
