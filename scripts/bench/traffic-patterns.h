// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCRIPTS_BENCH_TRAFFIC_PATTERNS_H
#define WEIR_SCRIPTS_BENCH_TRAFFIC_PATTERNS_H

#include "fluid-pattern.h"
#include "random-table.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace weir
{

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
        const uint64_t place = DRAWS * uint64_t{flow};
        const uint32_t source = m_random.Below(place, m_ranks);
        const uint32_t step = 1 + m_random.Below(place + 1, m_ranks - 1);
        const double bytes = MIN_BYTES * std::pow(MAX_BYTES / MIN_BYTES, m_random.Part(place + 2));
        const double start = m_interval * (flow + m_random.Part(place + 3));
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

} // namespace weir

#endif // WEIR_SCRIPTS_BENCH_TRAFFIC_PATTERNS_H
