// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_DRAGONFLY_H
#define WEIR_FABRIC_DRAGONFLY_H

#include "fabric/ids.h"
#include "fabric/kinds/fabric-kind.h"
#include "fabric/topology/link-profile.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weir
{

/** Which router takes a node's NICs, where routers take several. */
enum class NicPlacement : uint8_t
{
    Packed, //!< NICs in order of nodes fill one router after the other
    Rails   //!< the k-th NIC of a node is attached to the k-th router of a block of them
};

/**
 * What dragonfly and dragonfly+ have in common: groups of routers, NICs on them, and global links
 * between every two groups. With g groups whose routers have h global ports each and P in all,
 * every two groups are joined by m = floor(P / (g - 1)) global links; ports beyond that stay free.
 * Link l from group i to group j leaves by global port l (g - 1) + ((j - i) mod g) - 1 of group i,
 * whose router is the port over h: the links of a pair lie on different routers. A global link
 * counts three in the length of a path, so shortest paths have one at most, and three links in all.
 */
class DragonflyGroups : public FabricKind
{
  public:
    using FabricKind::FabricKind;

    std::optional<uint32_t> leafRadix; //!< ports of a router; nothing: as many as it needs
    std::optional<uint32_t> groups;    //!< nothing: the fewest that hold all NICs
    uint32_t routersPerGroup{4};       //!< that NICs are attached to (dragonfly+: leaves)
    uint32_t nicsPerRouter{2};
    uint32_t localLinks{1};  //!< between two routers of a group (dragonfly+: leaf and spine)
    uint32_t globalLinks{2}; //!< of a router (dragonfly+: of a spine) to other groups
    NicPlacement nicPlacement{NicPlacement::Packed};
    LinkProfile globalLink; //!< between groups; without a rate: as within groups

    bool HasIntermediates() const override;
    FabricSize FixedSize(const ClusterSpec& spec) const override;
    FabricSketch Sketch(const Topology& topology) const override;

  protected:
    /** Switches of one group, and wires among them. */
    virtual FabricSize GroupSize() const = 0;

    /** The switches of a group that have global ports. */
    struct GlobalRouters
    {
        uint32_t count;
        const char* key; //!< of the count
    };

    virtual GlobalRouters GetGlobalRouters() const = 0;

    /** The parameters from leafRadix to routersPerGroup. */
    void VisitGroups(ParameterVisitor& visitor);

    /** The parameters from nicsPerRouter to globalLink. */
    void VisitLinks(ParameterVisitor& visitor);

    /** Throws unless links can be made and a router has @p ports ports. */
    void CheckRouter(const ClusterSpec& spec, uint32_t ports) const;

    /** How many groups there are. @throws std::invalid_argument when they cannot hold the NICs. */
    uint32_t GroupCount(const ClusterSpec& spec) const;

    /** Adds @p count switches of one group. */
    static std::vector<DeviceId> AddGroup(
        Topology& topology, DeviceKind kind, const char* name, uint32_t group, uint32_t count);

    void AttachNics(Topology& topology,
                    const ClusterSpec& spec,
                    const std::vector<DeviceId>& nics,
                    const std::vector<DeviceId>& routers) const;

    /** Global links between every two of @p groupCount groups. @throws when there are none. */
    uint32_t LinksOfAPair(uint32_t groupCount) const;

    /** Joins every two groups. @param routers that have global ports, group by group. */
    void JoinGroups(Topology& topology,
                    const ClusterSpec& spec,
                    const std::vector<DeviceId>& routers) const;

  private:
    LinkProfile GlobalProfile(const ClusterSpec& spec) const;

    /** Nodes whose NICs one group holds by rails. */
    uint32_t NodesPerGroup(const ClusterSpec& spec) const;

    /** Which router of all, counted group by group, takes a NIC. */
    uint32_t RouterOf(const ClusterSpec& spec, std::size_t nic) const;
};

/**
 * Joins the NICs by a dragonfly (Kim, Dally, Scott and Abts, ISCA 2008): g groups of a routers; a
 * router has p NICs, localLinks to every other router of its group and h global links.
 *
 * Wired: g a routers, g a (a - 1) / 2 x localLinks local and m g (g - 1) / 2 global wires, where
 * m = floor(a h / (g - 1)).
 */
class Dragonfly : public DragonflyGroups
{
  public:
    Dragonfly()
        : DragonflyGroups("dragonfly", "Groups of routers, each group and all groups fully joined.")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;

  private:
    FabricSize GroupSize() const override;
    GlobalRouters GetGlobalRouters() const override;
};

/**
 * A dragonfly of leaf-spine groups: dragonfly+ (Shpiner et al., HiPINEB 2017). A group has leaves
 * with p NICs each and spines with h global links each; every leaf has localLinks to every spine.
 */
class DragonflyPlus : public DragonflyGroups
{
  public:
    DragonflyPlus()
        : DragonflyGroups("dragonfly-plus",
                          "Groups that are leaf-spine networks, all groups joined by their spines.")
    {
    }

    uint32_t spinesPerGroup{4};

    void VisitParameters(ParameterVisitor& visitor) override;
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;

  private:
    FabricSize GroupSize() const override;
    GlobalRouters GetGlobalRouters() const override;
};

} // namespace weir

#endif // WEIR_FABRIC_DRAGONFLY_H
