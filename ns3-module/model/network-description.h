// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_NETWORK_DESCRIPTION_H
#define WEIR_MODEL_NETWORK_DESCRIPTION_H

#include "link-figures.h"

#include "fabric/topology/cluster-spec.h"
#include "ns3/object.h"

#include <string>

namespace ns3
{

/**
 * The network between servers as attributes: its shape, the size of its switches, how they choose
 * among equal paths. By default a rail-optimised Clos without oversubscription, with ECMP, of the
 * NICs' own links.
 */
class NetworkDescription : public Object
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    NetworkDescription();
    ~NetworkDescription() override;

    /**
     * Takes all figures from plain values; attributes set later change single ones.
     * @param spec the network
     */
    void SetSpec(const weir::FabricSpec& spec);

    /**
     * The network as plain values.
     * @return the network
     */
    weir::FabricSpec GetSpec() const;

  private:
    /**
     * Set the shape by its name.
     * @param kind the name
     */
    void SetKind(std::string kind);

    /**
     * The shape's name.
     * @return the name
     */
    std::string GetKind() const;

    /**
     * Set how switches choose among equal paths, by name.
     * @param routing the name
     */
    void SetRouting(std::string routing);

    /**
     * The name of how switches choose among equal paths.
     * @return the name
     */
    std::string GetRouting() const;

    weir::FabricSpec m_spec;   //!< shape and routing, and what is not an attribute
    uint32_t m_leafRadix;      //!< ports of a leaf
    double m_oversubscription; //!< down over up capacity of a leaf
    uint32_t m_levels;         //!< of switches
    uint64_t m_hashSeed;       //!< salts of the switches
    LinkFigures m_link;        //!< switch to switch; rate and latency 0: as the NICs
};

} // namespace ns3

#endif // WEIR_MODEL_NETWORK_DESCRIPTION_H
