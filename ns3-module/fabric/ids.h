// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_IDS_H
#define WEIR_FABRIC_IDS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

/**
 * @file
 * Identities: dense, typed indices. Each one names an element of one vector and cannot be confused
 * with an index of another kind. Text names exist only where input is read and results are written.
 */
namespace weir
{

/** A dense index of the kind @p Tag. A default-constructed one is invalid (IsValid() is false). */
template <typename Tag>
class Id
{
  public:
    constexpr Id() = default;

    constexpr explicit Id(std::size_t index)
        : m_index(static_cast<uint32_t>(index))
    {
    }

    /** The position in the vector of the elements that this type indexes. */
    constexpr uint32_t Index() const
    {
        return m_index;
    }

    constexpr bool IsValid() const
    {
        return m_index != std::numeric_limits<uint32_t>::max();
    }

    friend constexpr bool operator==(Id a, Id b)
    {
        return a.m_index == b.m_index;
    }

    friend constexpr bool operator!=(Id a, Id b)
    {
        return a.m_index != b.m_index;
    }

    friend constexpr bool operator<(Id a, Id b)
    {
        return a.m_index < b.m_index;
    }

  private:
    uint32_t m_index{std::numeric_limits<uint32_t>::max()}; //!< maximum value: invalid
};

using DeviceId = Id<struct DeviceTag>; //!< a vertex of a Topology
using LinkId = Id<struct LinkTag>;     //!< one direction of a wire of a Topology
using PathId = Id<struct PathTag>;     //!< an interned sequence of links of a PathTable
using RouteId = Id<struct RouteTag>;   //!< end points and tuple of flows, interned by Routing
using GpuId = Id<struct GpuTag>;       //!< a GPU of a Cluster, counted node by node
using Rank = Id<struct RankTag>;       //!< a process of a job; placement maps it to a GpuId

} // namespace weir

template <typename Tag>
struct std::hash<weir::Id<Tag>>
{
    std::size_t operator()(weir::Id<Tag> id) const noexcept
    {
        return std::hash<uint32_t>()(id.Index());
    }
};

#endif // WEIR_FABRIC_IDS_H
