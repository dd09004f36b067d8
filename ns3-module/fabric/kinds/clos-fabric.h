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
 * The common part of the Clos fabrics (rail-optimized, rail-only, leaf-spine, fat tree): the
 * division of a leaf's ports into down and up, the number of switches of the next layer for its
 * uplinks, and the spines.
 */
class ClosFabric : public FabricKind
{
  public:
    using FabricKind::FabricKind;

    uint32_t leafRadix{64};           //!< ports of a leaf (fat tree: of every switch)
    double oversubscription{1.0};     //!< down / up capacity of a leaf, at least 1
    std::optional<uint32_t> leafDown; //!< ports of a leaf to NICs; absent: the maximum
    std::optional<uint32_t> leafUp;   //!< uplinks of a leaf; absent: by oversubscription

    void VisitParameters(ParameterVisitor& visitor) override;
    std::string Figures(const Topology& topology) const override;
    std::string Unmet(const Topology& topology) const override;

  protected:
    /**
     * The number of uplinks of a leaf with @p down NICs: leafUp if given, else the smallest u with
     * down * NIC rate <= oversubscription * u * trunk rate.
     */
    uint32_t UplinksFor(const ClusterSpec& spec, uint32_t down) const;

    /**
     * The number of NICs per leaf, a multiple of @p step; 0 if there is no room.
     *
     * If leafDown is given, it is leafDown rounded down to such a multiple. Otherwise it is a d
     * with d + UplinksFor(d) <= leafRadix: with an oversubscription of 1 or with leafUp the largest
     * one, else the largest one whose ratio of down to up capacity is within 1 % of the ratio
     * closest to the oversubscription. Ports may remain unused: with 8 ports a ratio of 2 takes 4
     * down and 2 up.
     * @throws std::invalid_argument if leafDown and the uplinks exceed leafRadix.
     */
    uint32_t DownPorts(const ClusterSpec& spec, uint32_t step) const;

    /**
     * Connects all @p leaves, which have at most @p down NICs each, by the fewest possible spines,
     * named from number @p first on. A spine has leafRadix ports, or one port per leaf if there are
     * more leaves than that. A single leaf needs no spine.
     * @return the number of spines
     */
    uint32_t JoinBySpines(Topology& topology,
                          const ClusterSpec& spec,
                          const std::vector<DeviceId>& leaves,
                          uint32_t down,
                          uint32_t first = 0) const;

    /**
     * Checks as CheckFabricLinks does, and that a leaf has room for a NIC and its uplinks.
     * @throws std::invalid_argument
     */
    void CheckLeaf(const ClusterSpec& spec) const;

  private:
    /** The ratio of down to up capacity of a leaf with @p down NICs. */
    double LeafRatio(const ClusterSpec& spec, uint32_t down) const;

    /** Whether a leaf has enough ports for @p down NICs and their uplinks. */
    bool HasPorts(const ClusterSpec& spec, uint32_t down) const
    {
        return down + UplinksFor(spec, down) <= leafRadix;
    }
};

/**
 * The smallest number of switches, of at most @p ports ports each, that take @p uplinks links of
 * each of @p lower switches, the same number from each.
 * @return 0 if @p lower exceeds @p ports (one switch must reach all of them).
 */
uint32_t UpperSwitches(uint32_t uplinks, uint32_t lower, uint32_t ports);

/**
 * Connects the nodes by leaves that take whole nodes: as many as fit the down ports of a leaf, with
 * all NICs of a node on one leaf. Uplinks and spines are as in RailOptimized.
 */
class LeafSpine : public ClosFabric
{
  public:
    LeafSpine()
        : ClosFabric("leaf-spine",
                     "All NICs of a node are attached to the same leaf; spines connect the leaves.")
    {
    }

    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;
};

/**
 * Connects the nodes by rails: with D down ports per leaf, D nodes form a group, and leaf r of a
 * group takes NIC r of every node in it. Leaves are numbered by group, then by rail.
 *
 * All leaves have the same number of uplinks, enough for the largest group, spread evenly over
 * spines that each reach every leaf. Spines have leafRadix ports if that suffices to reach all
 * leaves, else one port per leaf (modular switches). With one leaf there are no spines.
 */
class RailOptimized : public ClosFabric
{
  public:
    RailOptimized()
        : ClosFabric("rail-optimized",
                     "NIC r of every node in a group is attached to leaf r of the group; spines "
                     "connect the leaves.")
    {
    }

    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;

  protected:
    using ClosFabric::ClosFabric;

    /** The leaves, by group and then by rail, with their NICs, before any spine. */
    struct Rails
    {
        std::vector<DeviceId> leaves;
        uint32_t groupNodes; //!< nodes of a full group: NICs of its leaves
    };

    /** Adds the leaves and connects the NICs to them. */
    Rails WireRails(Topology& topology,
                    const ClusterSpec& spec,
                    const std::vector<DeviceId>& nics) const;
};

/**
 * RailOptimized without the links between rails: the leaves of each rail have spines of their own,
 * and a rail of one leaf has none. Data for another rail crosses the NVLinks of a node (Wang et
 * al., "Rail-only: A low-cost high-performance network for training LLMs with trillion
 * parameters", arXiv 2307.12169). NICs of different rails have no path.
 */
class RailOnly : public RailOptimized
{
  public:
    RailOnly()
        : RailOptimized("rail-only",
                        "NIC r of every node is attached to rail r; the rails are not connected.")
    {
    }

    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;
};

/**
 * Connects the NICs, in order of nodes, by a fat tree of switches that all have leafRadix = k
 * ports.
 *
 * A leaf takes D NICs and has U uplinks with D + U <= k; D / U is the oversubscription. Above the
 * leaves there is no oversubscription. Two levels are leaves and spines, with at most k leaves.
 * Each further level combines k / 2 blocks of the level below (k at the top) into one: the top
 * switches with the same index in all of them are connected to one group of switches above. With
 * equal rates and no oversubscription, three levels are the k-ary fat tree of Al-Fares, Loukissas
 * and Vahdat (SIGCOMM 2008): k^3 / 4 NICs, 5 k^2 / 4 switches; L levels have 2 (k / 2)^L NICs and
 * (2 L - 1) (k / 2)^(L - 1) switches (Petrini and Vanneschi, IPPS 1997). Levels that are not needed
 * are omitted.
 */
class FatTree : public ClosFabric
{
  public:
    FatTree()
        : ClosFabric("fat-tree",
                     "A fat tree of switches with equal port counts and as many levels as needed.")
    {
    }

    uint32_t levels{2}; //!< maximum levels of switches; 2: leaf-spine, 3: with core

    void VisitParameters(ParameterVisitor& visitor) override;
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;

  private:
    /** The number of leaves and the ports of each. */
    struct Leaves
    {
        uint32_t down;    //!< NICs of a full leaf
        uint32_t uplinks; //!< of each leaf
        uint32_t count;   //!< number of leaves
    };

    /** The blocks of one level, with the top switches of each, block by block. */
    struct Blocks
    {
        std::vector<DeviceId> tops;
        uint32_t count;    //!< number of blocks
        uint32_t perBlock; //!< top switches per block
        uint32_t uplinks;  //!< uplinks of a top switch
    };

    /** The number of blocks that @p level combines into one. */
    uint32_t BlocksJoined(uint32_t level) const
    {
        return level == levels ? leafRadix : leafRadix / 2;
    }

    /**
     * The leaves for @p nicCount NICs.
     * @throws std::invalid_argument if all levels cannot connect so many.
     */
    Leaves LeavesFor(const ClusterSpec& spec, std::size_t nicCount) const;

    /**
     * Combines blocks into larger ones: top switch j of each block is connected to group j of the
     * larger block.
     */
    Blocks JoinBlocks(Topology& topology,
                      const Blocks& lower,
                      uint32_t level,
                      const LinkProfile& trunk) const;
};

} // namespace weir

#endif // WEIR_FABRIC_CLOS_FABRIC_H
