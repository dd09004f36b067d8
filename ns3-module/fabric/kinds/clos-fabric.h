// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_CLOS_FABRIC_H
#define WEIR_FABRIC_CLOS_FABRIC_H

#include "fabric/ids.h"
#include "fabric/kinds/fabric-kind.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/**
 * What the Clos fabrics (rail-optimized, leaf-spine, fat tree) have in common: how a leaf's ports
 * divide into down and up, how many switches of the next layer take the uplinks, and spines.
 */
class ClosFabric : public FabricKind
{
  public:
    using FabricKind::FabricKind;

    uint32_t leafRadix{64};           //!< ports of a leaf (fat tree: of every switch)
    double oversubscription{1.0};     //!< down capacity over up capacity of a leaf, at least 1
    std::optional<uint32_t> leafDown; //!< ports of a leaf to NICs, in place of the most
    std::optional<uint32_t> leafUp;   //!< uplinks of a leaf, in place of oversubscription

    void VisitParameters(ParameterVisitor& visitor) override;
    std::string Figures(const Topology& topology) const override;

  protected:
    /**
     * The uplinks of a leaf with @p down NICs: leafUp, else the least u for which
     * down * NIC rate <= oversubscription * u * trunk rate.
     */
    uint32_t UplinksFor(const ClusterSpec& spec, uint32_t down) const;

    /**
     * How many NICs one leaf takes, a multiple of @p step: of d with d + UplinksFor(d) <=
     * leafRadix the most whose ratio of down to up capacity is, but for 1 %, as near to the
     * oversubscription asked for as any. Ports may stay free: of 8 a ratio of 2 takes 4 and 2.
     * Without oversubscription simply the most, with leafDown as many of those. 0 where there is
     * no room. @throws std::invalid_argument when leafDown and the uplinks are more than leafRadix.
     */
    uint32_t DownPorts(const ClusterSpec& spec, uint32_t step) const;

    /**
     * Joins all @p leaves, of @p down NICs each at most, by spines: the fewest of leafRadix ports,
     * or of one port per leaf when there are more leaves than that. One leaf needs none.
     */
    void JoinBySpines(Topology& topology,
                      const ClusterSpec& spec,
                      const std::vector<DeviceId>& leaves,
                      uint32_t down) const;

    /** As CheckFabricLinks, and throws unless a leaf has room for a NIC and its uplinks. */
    void CheckLeaf(const ClusterSpec& spec) const;

  private:
    /** Down over up capacity of a leaf with @p down NICs. */
    double LeafRatio(const ClusterSpec& spec, uint32_t down) const;

    /** Whether a leaf has the ports for @p down NICs and their uplinks. */
    bool HasPorts(const ClusterSpec& spec, uint32_t down) const;
};

/**
 * The switches that take @p uplinks links of each of @p lower switches, the same number from each:
 * the fewest of at most @p ports ports each. @return 0 when @p lower is more than @p ports (one
 * switch must reach all of them).
 */
uint32_t UpperSwitches(uint32_t uplinks, uint32_t lower, uint32_t ports);

/**
 * Joins the nodes by leaves that take whole nodes: as many as the down ports of a leaf hold, all
 * NICs of a node on one leaf. Uplinks and spines are as in RailOptimized.
 */
class LeafSpine : public ClosFabric
{
  public:
    LeafSpine()
        : ClosFabric("leaf-spine", "Leaves take whole nodes; spines join leaves.")
    {
    }

    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;
};

/**
 * Joins the nodes by rails: with D down ports on a leaf, D nodes form a group, and leaf r of a
 * group takes NIC r of every node in it. Leaves are numbered group by group, rail by rail.
 *
 * All leaves have the same uplinks, enough for the largest group; they spread evenly over spines
 * that each reach every leaf. Spines have leafRadix ports as long as these reach all leaves, and
 * one port per leaf beyond that (modular switches). With one leaf there are no spines.
 */
class RailOptimized : public ClosFabric
{
  public:
    RailOptimized()
        : ClosFabric("rail-optimized",
                     "Leaf r of a group takes NIC r of every node in it; spines join leaves.")
    {
    }

    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;
};

/**
 * Joins the NICs, in order of nodes, by a fat tree of switches that all have leafRadix = k ports.
 *
 * A leaf takes D NICs and has U uplinks, D / U the oversubscription, D + U <= k; above the leaves
 * nothing is oversubscribed. Two levels: leaves and spines, k leaves at most. With each further
 * level the blocks of the one before become k / 2 to a block (k at the top): their top switches of
 * one number are joined to one group of switches above. With equal rates and no oversubscription
 * that is for three levels the k-ary fat tree of Al-Fares, Loukissas and Vahdat (SIGCOMM 2008):
 * k^3 / 4 NICs, 5 k^2 / 4 switches; for L levels 2 (k / 2)^L NICs and (2 L - 1) (k / 2)^(L - 1)
 * switches (Petrini and Vanneschi, IPPS 1997). Levels that are not needed are left out.
 */
class FatTree : public ClosFabric
{
  public:
    FatTree()
        : ClosFabric("fat-tree", "Levels of switches of one radix, as many as are needed.")
    {
    }

    uint32_t levels{2}; //!< of switches: 2: leaf-spine, 3: with core

    void VisitParameters(ParameterVisitor& visitor) override;
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;

  private:
    /** NICs per leaf, and how many leaves there are. */
    struct Leaves
    {
        uint32_t down;    //!< NICs of a full leaf
        uint32_t uplinks; //!< of each leaf
        uint32_t count;   //!< in all
    };

    /** Blocks of one level: the switches at their tops, block by block. */
    struct Blocks
    {
        std::vector<DeviceId> tops;
        uint32_t count;    //!< of blocks
        uint32_t perBlock; //!< tops of each
        uint32_t uplinks;  //!< that each top has
    };

    /** How many blocks of one level the next one joins. */
    uint32_t BlocksJoined(uint32_t level) const;

    /** @throws std::invalid_argument when all levels cannot join so many NICs. */
    Leaves LeavesFor(const ClusterSpec& spec, std::size_t nicCount) const;

    /** Joins blocks to larger ones: top j of all blocks of a larger one to its group j. */
    Blocks JoinBlocks(Topology& topology,
                      const Blocks& lower,
                      uint32_t level,
                      const LinkProfile& trunk) const;
};

} // namespace weir

#endif // WEIR_FABRIC_CLOS_FABRIC_H
