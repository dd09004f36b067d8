// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCRIPTS_BENCH_FLUID_FABRIC_H
#define WEIR_SCRIPTS_BENCH_FLUID_FABRIC_H

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** One direction of a wire. */
struct FluidLink
{
    double bytesPerSecond;
    double latency; //!< seconds
};

/**
 * The links between ranks and the paths over them, as plain numbers, for use by two simulators.
 *
 * Links have 400 Gb/s (NVLink 450 GB/s). Only the links at ranks have a latency, so that all paths
 * have the same latency, as SimGrid's CM02 gives flows shares inversely proportional to it. Spines
 * are selected by the index of the destination within its leaf modulo the number of spines (static,
 * D-mod-k); a spine has as many ports as there are leaves.
 */
class FluidFabric
{
  public:
    /**
     * @param name `switch`: one non-blocking switch; `clos`: leaves of 16 ranks and 16 spines;
     *        `rail`: a rail-optimized Clos with nodes of 8 ranks connected by NVLink, leaves of the
     *        16 ranks of one rail of 16 nodes, and 16 spines; `fat-tree`: leaves of 16 ranks and 8
     *        spines, 2:1 oversubscribed.
     * @param ranks number of ranks
     * @throws std::invalid_argument on another name.
     */
    FluidFabric(const std::string& name, uint32_t ranks);

    const std::vector<FluidLink>& Links() const
    {
        return m_links;
    }

    /** The links from one rank to another, in order. */
    std::vector<uint32_t> Route(uint32_t source, uint32_t destination) const;

  private:
    uint32_t LeafOf(uint32_t rank) const;
    uint32_t IndexInLeaf(uint32_t rank) const;

    uint32_t m_ranks;
    uint32_t m_nodeSize{0}; //!< ranks connected by NVLink; zero: none
    uint32_t m_spines{0};   //!< number of spines; zero: all ranks on one switch
    std::vector<FluidLink> m_links;
};

} // namespace weir

#endif // WEIR_SCRIPTS_BENCH_FLUID_FABRIC_H
