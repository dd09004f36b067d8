// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_NETWORK_DESCRIPTION_H
#define WEIR_MODEL_NETWORK_DESCRIPTION_H

#include "link-figures.h"
#include "parameter-attributes.h"

#include "fabric/topology/cluster-spec.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * The network between servers as attributes: its kind, how switches choose among equal paths, the
 * parameters of all kinds and routing policies. By default a rail-optimized Clos without
 * oversubscription, with ECMP, of the NICs' own links. A network from a file comes with SetSpec.
 */
class NetworkDescription : public ParameterizedObject
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    NetworkDescription();

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

    std::vector<ParameterComponent> GetComponents() override;

  private:
    /**
     * Set the kind by its name.
     * @param kind the name
     */
    void SetKind(std::string kind);

    /**
     * The kind's name.
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

    weir::FabricSpec m_spec;                                        //!< what is not an attribute
    std::vector<weir::Polymorphic<weir::FabricKind>> m_kinds;       //!< of every kind one
    std::vector<weir::Polymorphic<weir::RoutingPolicy>> m_policies; //!< of every policy one
    std::size_t m_kind{0};                                          //!< the one that is meant
    std::size_t m_policy{0};                                        //!< the one that is meant
    uint64_t m_hashSeed;                                            //!< salts of the switches
    LinkFigures m_link; //!< switch to switch; rate and latency 0: as the NICs
};

} // namespace ns3

#endif // WEIR_MODEL_NETWORK_DESCRIPTION_H
