// SPDX-License-Identifier: GPL-2.0-only
#include "fluid-pattern.h"

#include "collective-patterns.h"
#include "traffic-patterns.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr double KIB = 1024;
constexpr double MIB = 1024 * KIB;
constexpr double GIB = 1024 * MIB;

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
