// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PATH_SUM_H
#define WEIR_FABRIC_PATH_SUM_H

#include "fabric/ids.h"
#include "fabric/routing/path-table.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace weir
{

/**
 * Puts a path together of others that are loaded at one rate, such as the hops of a ring, or the
 * messages of an all-to-all. Where switches spread what they are given it remembers which end
 * points its ways join, which the links alone do not tell.
 */
class PathSum
{
  public:
    /** @p paths must outlive it. */
    explicit PathSum(PathTable& paths);

    /** All links of @p path, @p times times. */
    void Add(PathId path, uint32_t times = 1);

    /** Likewise of the links of one way, through at most one network. */
    void Add(const std::vector<LinkId>& way, uint32_t times = 1);

    /** The path of everything added so far. */
    PathId Intern() const;

  private:
    /** A way over the network that lies in @p links; one end is invalid when there is none. */
    PathWay FindWay(const std::vector<PathLink>& links) const;
    void AddCounted(const std::vector<PathLink>& links, uint32_t times);

    PathTable& m_paths;
    bool m_keepsWays;
    std::map<LinkId, uint32_t> m_links;
    std::map<LinkId, uint32_t> m_rest;
    std::map<std::pair<DeviceId, DeviceId>, uint32_t> m_ways;
};

} // namespace weir

#endif // WEIR_FABRIC_PATH_SUM_H
