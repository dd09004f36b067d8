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

} // namespace weir

#endif // WEIR_FABRIC_CLOS_FABRIC_H
