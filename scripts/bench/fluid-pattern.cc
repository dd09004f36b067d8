// SPDX-License-Identifier: GPL-2.0-only
#include "fluid-pattern.h"

#include <algorithm>
#include <cmath>
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

/** Each rank sends to the next one on a random cycle through all ranks. */
class Permutation : public FluidPattern
{
  public:
    Permutation(uint32_t ranks, double bytes, uint64_t seed)
        : m_order(ranks),
          m_bytes(bytes)
    {
        const RandomTable random(seed);
        std::iota(m_order.begin(), m_order.end(), 0);
        for (uint32_t i = ranks - 1; i > 0; i--)
        {
            std::swap(m_order[i], m_order[random.Below(i, i + 1)]);
        }
    }

    uint32_t Count() const override
    {
        return static_cast<uint32_t>(m_order.size());
    }

    FluidFlow Flow(uint32_t flow) const override
    {
        return {m_order[flow], m_order[(flow + 1) % m_order.size()], m_bytes};
    }

  private:
    std::vector<uint32_t> m_order;
    double m_bytes;
};

/** All ranks send to rank 0. */
class Incast : public FluidPattern
{
  public:
    Incast(uint32_t ranks, double lo, double hi, uint64_t seed)
        : m_ranks(ranks),
          m_lo(lo),
          m_hi(hi),
          m_random(seed)
    {
    }

    uint32_t Count() const override
    {
        return m_ranks - 1;
    }

    FluidFlow Flow(uint32_t flow) const override
    {
        return {flow + 1, 0, m_random.Uniform(flow, m_lo, m_hi)};
    }

  private:
    uint32_t m_ranks;
    double m_lo;
    double m_hi;
    RandomTable m_random;
};

/** Flows between random ranks, one at a random time within each interval. */
class Background : public FluidPattern
{
  public:
    /** @param interval mean time between flows, seconds */
    Background(uint32_t ranks, uint32_t flows, double interval, uint64_t seed)
        : m_ranks(ranks),
          m_flows(flows),
          m_interval(interval),
          m_random(seed)
    {
    }

    static constexpr double MIN_BYTES = 16 * 1024.0;
    static constexpr double MAX_BYTES = 16 * 1048576.0;

    /** The mean of sizes that are log-uniform from MIN_BYTES to MAX_BYTES, in bytes. */
    static double MeanSize()
    {
        return (MAX_BYTES - MIN_BYTES) / std::log(MAX_BYTES / MIN_BYTES);
    }

    uint32_t Count() const override
    {
        return m_flows;
    }

    FluidFlow Flow(uint32_t flow) const override
    {
        const uint64_t index = DRAWS * uint64_t{flow};
        const uint32_t source = m_random.Below(index, m_ranks);
        const uint32_t step = 1 + m_random.Below(index + 1, m_ranks - 1);
        const double bytes = MIN_BYTES * std::pow(MAX_BYTES / MIN_BYTES, m_random.Part(index + 2));
        const double start = m_interval * (flow + m_random.Part(index + 3));
        return {source,
                (source + step) % m_ranks,
                std::floor(bytes),
                std::ceil(start / NANOSECOND) * NANOSECOND};
    }

  private:
    static constexpr uint32_t DRAWS = 4; //!< random numbers per flow
    static constexpr double NANOSECOND = 1e-9;

    uint32_t m_ranks;
    uint32_t m_flows;
    double m_interval;
    RandomTable m_random;
};

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

/** No flows, to measure the cost of the fabric. */
class NoFlows : public FluidPattern
{
  public:
    uint32_t Count() const override
    {
        return 0;
    }

    FluidFlow Flow(uint32_t) const override
    {
        return {};
    }
};

std::unique_ptr<FluidPattern>
MakeMix(uint32_t ranks, uint64_t seed)
{
    constexpr uint32_t JOB = 64;
    const uint32_t job = std::min(ranks, JOB);
    if (ranks % job != 0)
    {
        throw std::invalid_argument("mix: " + std::to_string(ranks) +
                                    " ranks are no whole number of jobs of 64");
    }
    constexpr double LOAD = 0.2 * 50e9; // bytes/s of each rank, 20 % of its NIC's rate
    constexpr double DURATION = 12e-3;  // seconds, about the time of the rings
    const double interval = Background::MeanSize() / LOAD / ranks;
    const auto flows = static_cast<uint32_t>(DURATION / interval);
    return std::make_unique<Both>(std::make_unique<Rings>(ranks, ranks / job, 256 * MIB),
                                  std::make_unique<Background>(ranks, flows, interval, seed));
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
    if (name == "none")
    {
        return std::make_unique<NoFlows>();
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
        return std::make_unique<AllToAll>(ranks, MIB, MIB, seed);
    }
    if (name == "all-to-all-random")
    {
        return std::make_unique<AllToAll>(ranks, 0.5 * MIB, 1.5 * MIB, seed);
    }
    if (name == "permutation")
    {
        return std::make_unique<Permutation>(ranks, 64 * MIB, seed);
    }
    if (name == "incast")
    {
        return std::make_unique<Incast>(ranks, 0.5 * MIB, 1.5 * MIB, seed);
    }
    if (name == "mix")
    {
        return MakeMix(ranks, seed);
    }
    throw std::invalid_argument("no pattern " + name +
                                ": ring, tree, all-to-all, all-to-all-random, permutation, incast, "
                                "mix or none");
}

} // namespace weir
