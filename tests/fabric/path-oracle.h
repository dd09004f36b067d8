// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_FABRIC_PATH_ORACLE_H
#define WEIR_TESTS_FABRIC_PATH_ORACLE_H

#include "fabric/routing/flow-hash.h"
#include "fabric/topology/topology.h"

#include <cstdint>
#include <set>
#include <vector>

namespace weir
{

// Kinds of links, as bit masks for Router.
inline constexpr uint8_t NETWORK = 1 << static_cast<int>(LinkKind::Network);
inline constexpr uint8_t NVLINK = 1 << static_cast<int>(LinkKind::NvLink);
inline constexpr uint8_t PCIE =
    1 << static_cast<int>(LinkKind::Pcie) | 1 << static_cast<int>(LinkKind::InterSocket);
inline constexpr uint8_t ALL = 15;

/** Whether a path may pass through @p device. */
inline bool
PassesOn(const Topology& topology, DeviceId device)
{
    const DeviceKind kind = topology.GetDevice(device).kind;
    return kind != DeviceKind::Gpu && kind != DeviceKind::Nic && kind != DeviceKind::Host;
}

/** All shortest paths from one device, found by relaxing every link until nothing changes. */
struct Oracle
{
    std::vector<uint32_t> distance; //!< links, by device; NONE if there is no path
    std::vector<uint64_t> paths;    //!< number of shortest paths, by device

    static constexpr uint32_t NONE = 1000000;

    Oracle(const Topology& topology,
           DeviceId from,
           uint8_t kinds,
           const std::set<uint32_t>& failed = {})
        : distance(topology.DeviceCount(), NONE),
          paths(topology.DeviceCount(), 0)
    {
        const auto usable = [&](std::size_t id) {
            const Link& link = topology.GetLink(LinkId(id));
            return failed.count(static_cast<uint32_t>(id)) == 0 &&
                   (kinds >> static_cast<int>(link.kind) & 1) &&
                   (link.from == from || PassesOn(topology, link.from));
        };
        distance[from.Index()] = 0;
        for (bool changed = true; changed;)
        {
            changed = false;
            for (std::size_t i = 0; i < topology.LinkCount(); i++)
            {
                const Link& link = topology.GetLink(LinkId(i));
                const uint32_t d = distance[link.from.Index()] + 1;
                if (usable(i) && d < distance[link.to.Index()])
                {
                    distance[link.to.Index()] = d;
                    changed = true;
                }
            }
        }
        paths[from.Index()] = 1;
        const uint32_t farthest = static_cast<uint32_t>(topology.DeviceCount());
        for (uint32_t d = 1; d <= farthest; d++)
        {
            for (std::size_t i = 0; i < topology.LinkCount(); i++)
            {
                const Link& link = topology.GetLink(LinkId(i));
                if (usable(i) && distance[link.to.Index()] == d &&
                    distance[link.from.Index()] == d - 1)
                {
                    paths[link.to.Index()] += paths[link.from.Index()];
                }
            }
        }
    }
};

/** Whether consecutive links lead from @p from to @p to. */
inline bool
Joins(const Topology& topology, const std::vector<LinkId>& route, DeviceId from, DeviceId to)
{
    for (const LinkId id : route)
    {
        if (topology.GetLink(id).from != from)
        {
            return false;
        }
        from = topology.GetLink(id).to;
    }
    return from == to;
}

/** Tuple of one of 65536 flows between the same two ends. */
inline FlowTuple
TupleOf(uint32_t i)
{
    return {1, 2, static_cast<uint16_t>(i), 0};
}

} // namespace weir

#endif // WEIR_TESTS_FABRIC_PATH_ORACLE_H
