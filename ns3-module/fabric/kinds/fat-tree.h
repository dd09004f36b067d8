// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FAT_TREE_H
#define WEIR_FABRIC_FAT_TREE_H

#include "fabric/kinds/clos-fabric.h"

namespace weir
{

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
    uint32_t levels{2}; //!< of switches: 2: leaf-spine, 3: with core

    const char* Name() const override;
    const char* Description() const override;
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

#endif // WEIR_FABRIC_FAT_TREE_H
