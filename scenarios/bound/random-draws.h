// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_RANDOM_DRAWS_H
#define WEIR_SCENARIOS_BOUND_RANDOM_DRAWS_H

#include "fabric/routing/flow-hash.h"
#include "scenarios/yaml/input-error.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace weir
{

/**
 * The random numbers of one case of a seeded sample: the same on every platform and independent of
 * other cases. SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
 */
class RandomDraws
{
  public:
    RandomDraws(uint64_t seed, uint64_t index)
        : m_state(SplitMix64(seed - SPLIT_MIX_64_STEP) ^ SplitMix64(index))
    {
    }

    /** For a sample of one case. */
    explicit RandomDraws(uint64_t seed)
        : m_state(SplitMix64(seed) + SPLIT_MIX_64_STEP)
    {
    }

    uint64_t Bits()
    {
        const uint64_t bits = SplitMix64(m_state);
        m_state += SPLIT_MIX_64_STEP;
        return bits;
    }

    /** Uniform in [0, 1). */
    double Unit()
    {
        return static_cast<double>(Bits() >> 11) * 0x1p-53;
    }

    /** Uniform in [0, @p limit); the bias of the rounding is negligible. */
    uint32_t Below(std::size_t limit)
    {
        return static_cast<uint32_t>(Unit() * static_cast<double>(limit));
    }

    /** The numbers below @p count in random order (Fisher-Yates shuffle). */
    std::vector<uint32_t> Shuffled(std::size_t count)
    {
        std::vector<uint32_t> order(count);
        std::iota(order.begin(), order.end(), 0);
        for (std::size_t left = count; left > 1; left--)
        {
            std::swap(order[left - 1], order[Below(left)]);
        }
        return order;
    }

    /** True with @p probability. */
    bool With(double probability)
    {
        return Unit() < probability;
    }

    /** Log-uniform in [@p min, @p max). */
    double LogUniform(double min, double max)
    {
        return min * std::exp(std::log(max / min) * Unit());
    }

    /** One of @p values, with equal probability. */
    template <typename T>
    const T& OneOf(const std::vector<T>& values)
    {
        return values[static_cast<std::size_t>(Bits() % values.size())];
    }

  private:
    uint64_t m_state;
};

/**
 * The result of @p draw, repeated until it throws no exception (rejection sampling).
 * @param draw throws InputError or std::invalid_argument for infeasible draws
 */
template <typename Draw>
auto
DrawFeasible(const Draw& draw)
{
    while (true)
    {
        try
        {
            return draw();
        }
        catch (const std::invalid_argument&)
        {
            continue; // infeasible machine, group or plan
        }
        catch (const InputError&)
        {
            continue;
        }
    }
}

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_RANDOM_DRAWS_H
