// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCRIPTS_BENCH_FLUID_PATTERN_H
#define WEIR_SCRIPTS_BENCH_FLUID_PATTERN_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir
{

/** Bytes from one rank to another. */
struct FluidFlow
{
    uint32_t source;
    uint32_t destination;
    double bytes;    //!< whole
    double start{0}; //!< seconds, whole nanoseconds; of a flow that waits for no other
};

/**
 * Who sends what to whom, and after what, each flow computed from its number: a pattern takes no
 * memory however many flows it has, so what a run takes is the simulator's.
 */
class FluidPattern
{
  public:
    virtual ~FluidPattern() = default;

    virtual uint32_t Count() const = 0;

    virtual FluidFlow Flow(uint32_t flow) const = 0;

    /**
     * How many flows it waits for; it starts when the last of them ends. Those that wait for none
     * are numbered in the order of their starts.
     */
    virtual uint32_t Waits(uint32_t flow) const
    {
        return 0;
    }

    /** Adds the flows that wait for this one to @p followers. */
    virtual void AddFollowers(uint32_t flow, std::vector<uint32_t>& followers) const
    {
    }
};

/**
 * A pattern by name; the same seed gives the same flows on every platform.
 *  - `ring`: an all-reduce of 1 GiB in 2(n-1) steps of n flows; a rank sends on what it received;
 *  - `tree`: the same over two binary trees of half the data each, up and down in 32 chunks, where
 *    the inner ranks of one tree are leaves of the other;
 *  - `all-to-all`: 1 MiB from each rank to each other;
 *  - `all-to-all-random`: sizes uniform from 0.5 to 1.5 MiB;
 *  - `permutation`: 64 MiB from each rank to one other, one random cycle;
 *  - `incast`: all to rank 0, sizes as all-to-all-random;
 *  - `mix`: jobs of 64 ranks far apart, each a ring all-reduce of 256 MiB, and background flows
 *    between random ranks that come at random moments and load each rank's link to 20 % for
 *    12 ms, sizes log-uniform from 16 KiB to 16 MiB;
 *  - `none`: no flows, to see what a fabric alone takes.
 * @throws std::invalid_argument on another name, fewer than two ranks, more flows than 2^32, or a
 *         `mix` on ranks that cannot be cut into jobs.
 */
std::unique_ptr<FluidPattern> MakePattern(const std::string& name, uint32_t ranks, uint64_t seed);

} // namespace weir

#endif // WEIR_SCRIPTS_BENCH_FLUID_PATTERN_H
