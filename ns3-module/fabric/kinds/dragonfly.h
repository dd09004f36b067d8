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

/** The assignment of NICs to the routers of a group. */
enum class NicPlacement : uint8_t
{
    Packed, //!< NICs fill one router after the other, in order of nodes
    Rails   //!< the k-th NIC of a node is attached to the k-th router of a block of them
};

/**
 * The common part of dragonfly and dragonfly+: groups of routers, NICs on them, and global links
 * between every two groups. With g groups that have P global ports each, h per router, every two
 * groups are connected by m = floor(P / (g - 1)) global links; the remaining ports are unused. Link
 * l from group i to group j leaves through global port l (g - 1) + ((j - i) mod g) - 1 of group i,
 * which is on router floor(port / h), so that the links of a pair are on different routers. A
 * global link counts three in the length of a path, so shortest paths have at most one, and at most
 * three links in total.
 */
class DragonflyGroups : public FabricKind
{
  public:
    using FabricKind::FabricKind;

    std::optional<uint32_t> leafRadix; //!< ports of a router; absent: as many as needed
    std::optional<uint32_t> groups;    //!< absent: the fewest that hold all NICs
    uint32_t routersPerGroup{4};       //!< routers with NICs (dragonfly+: leaves)
    uint32_t nicsPerRouter{2};
    uint32_t localLinks{1};  //!< between two routers of a group (dragonfly+: leaf and spine)
    uint32_t globalLinks{2}; //!< global links of a router (dragonfly+: of a spine)
    NicPlacement nicPlacement{NicPlacement::Packed};
    LinkProfile globalLink; //!< between groups; rate 0: as within groups

    bool HasIntermediates() const override
    {
        return true;
    }

    FabricSize FixedSize(const ClusterSpec& spec) const override;
    FabricSketch Sketch(const Topology& topology) const override;

  protected:
    /** The number of switches of one group, and of wires between them. */
    virtual FabricSize GroupSize() const = 0;

    /** The switches of a group that have global ports. */
    struct GlobalRouters
    {
        uint32_t count;
        const char* key; //!< parameter that gives the count
    };

    virtual GlobalRouters GetGlobalRouters() const = 0;

    /** Visits the parameters from leafRadix to routersPerGroup. */
    void VisitGroups(ParameterVisitor& visitor);

    /** Visits the parameters from nicsPerRouter to globalLink. */
    void VisitLinks(ParameterVisitor& visitor);

    /**
     * Checks the links, and that a router has at least @p ports ports.
     * @throws std::invalid_argument
     */
    void CheckRouter(const ClusterSpec& spec, uint32_t ports) const;

    /** The number of groups. @throws std::invalid_argument if they cannot hold the NICs. */
    uint32_t GroupCount(const ClusterSpec& spec) const;

    /** Adds @p count switches to one group. */
    static std::vector<DeviceId> AddGroup(
        Topology& topology, DeviceKind kind, const char* name, uint32_t group, uint32_t count);

    void AttachNics(Topology& topology,
                    const ClusterSpec& spec,
                    const std::vector<DeviceId>& nics,
                    const std::vector<DeviceId>& routers) const;

    /**
     * The number of global links between every two of @p groupCount groups.
     * @throws std::invalid_argument if it is zero.
     */
    uint32_t LinksPerGroupPair(uint32_t groupCount) const;

    /** Connects every two groups. @param routers with global ports, group by group */
    void JoinGroups(Topology& topology,
                    const ClusterSpec& spec,
                    const std::vector<DeviceId>& routers) const;

  private:
    LinkProfile GlobalProfile(const ClusterSpec& spec) const;

    /**
     * The number of nodes per group with NicPlacement::Rails.
     * @throws std::invalid_argument if routersPerGroup is not a multiple of the NICs of a node.
     */
    uint32_t NodesPerGroup(const ClusterSpec& spec) const;

    /** The index of the router that takes a NIC, among the routers of all groups in order. */
    uint32_t RouterOf(const ClusterSpec& spec, std::size_t nic) const;
};

/**
 * Connects the NICs by a dragonfly (Kim, Dally, Scott and Abts, ISCA 2008): g groups of a routers.
 * A router has p NICs, localLinks links to every other router of its group and h global links.
 *
 * This takes g a routers, g a (a - 1) / 2 x localLinks local wires and m g (g - 1) / 2 global
 * wires, where m = floor(a h / (g - 1)).
 */
class Dragonfly : public DragonflyGroups
{
  public:
    Dragonfly()
        : DragonflyGroups(
              "dragonfly",
              "Groups of routers; routers within a group, and all groups, are fully connected.")
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
 * with p NICs each and spines with h global links each; every leaf has localLinks links to every
 * spine.
 */
class DragonflyPlus : public DragonflyGroups
{
  public:
    DragonflyPlus()
        : DragonflyGroups(
              "dragonfly-plus",
              "Groups that are leaf-spine networks; links between spines fully connect the groups.")
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
