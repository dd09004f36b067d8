// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCRIPTS_BENCH_FLUID_PATTERN_H
#define WEIR_SCRIPTS_BENCH_FLUID_PATTERN_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir
{

/** A flow from one rank to another. */
struct FluidFlow
{
    uint32_t source;
    uint32_t destination;
    double bytes;    //!< integral
    double start{0}; //!< seconds, whole nanoseconds; only of a flow that waits for no other
};

/**
 * A traffic pattern: flows and their dependencies. Each flow is computed from its number, so that a
 * pattern takes no memory and the memory of a run is that of the simulator.
 */
class FluidPattern
{
  public:
    virtual ~FluidPattern() = default;

    virtual uint32_t Count() const = 0;

    virtual FluidFlow Flow(uint32_t flow) const = 0;

    /**
     * The number of flows that a flow waits for; it starts when the last of them ends. Flows that
     * wait for none are numbered in the order of their start times.
     */
    virtual uint32_t Waits(uint32_t flow) const
    {
        return 0;
    }

    /** Appends the flows that wait for @p flow to @p followers. */
    virtual void AddFollowers(uint32_t flow, std::vector<uint32_t>& followers) const
    {
    }
};

/**
 * Creates a pattern by name; the same seed gives the same flows on every platform.
 *  - `ring`: an all-reduce of 1 GiB in 2(n-1) steps of n flows; a rank forwards what it received;
 *  - `tree`: the same over two binary trees with half the data each, up and down in 32 chunks,
 *    where the inner ranks of one tree are leaves of the other;
 *  - `all-to-all`: 1 MiB from each rank to each other;
 *  - `all-to-all-random`: the same with sizes uniform from 0.5 to 1.5 MiB;
 *  - `permutation`: 64 MiB from each rank to one other, along one random cycle;
 *  - `incast`: all to rank 0, sizes as in all-to-all-random;
 *  - `mix`: jobs of 64 ranks that are far apart, each a ring all-reduce of 256 MiB, and background
 *    flows between random ranks at random times, which load each rank's link to 20 % for 12 ms,
 *    with sizes log-uniform from 16 KiB to 16 MiB;
 *  - `none`: no flows, to measure the cost of a fabric.
 *
 * @throws std::invalid_argument on another name, fewer than two ranks, more flows than 2^32, or a
 *         `mix` whose ranks cannot be divided into jobs.
 */
std::unique_ptr<FluidPattern> MakePattern(const std::string& name, uint32_t ranks, uint64_t seed);

} // namespace weir

#endif // WEIR_SCRIPTS_BENCH_FLUID_PATTERN_H
