// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/shortest-ways.h"

namespace weir
{

ShortestWays::ShortestWays(Router& router)
    : m_router(router),
      m_revision(router.Revision())
{
}

const RouteDag*
ShortestWays::Between(DeviceId from, DeviceId to)
{
    constexpr uint8_t NETWORK = KindBit(LinkKind::Network);
    if (m_revision != m_router.Revision())
    {
        m_ways.clear();
        m_revision = m_router.Revision();
    }
    const auto [entry, isNew] = m_ways.try_emplace(uint64_t{from.Index()} << 32 | to.Index());
    if (isNew)
    {
        entry->second = m_router.IsReachable(from, to, NETWORK)
                            ? m_router.ShortestWays(from, to, NETWORK)
                            : RouteDag{{}, 0};
    }
    return entry->second.places > 0 ? &entry->second : nullptr;
}

} // namespace weir
