// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_NETWORK_DESCRIPTION_H
#define WEIR_MODEL_NETWORK_DESCRIPTION_H

#include "parameter-attributes.h"

#include "fabric/topology/cluster-spec.h"

#include <vector>

namespace ns3
{

/**
 * The network between servers as attributes: its kind, its routing policy, and the parameters of
 * all kinds and policies. By default a rail-optimized Clos network without oversubscription, with
 * ECMP and links as those of the NICs. A network from a file is set by SetSpec.
 */
class NetworkDescription : public ParameterizedObject, private weir::Parameterized
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    NetworkDescription();

    /**
     * Sets all values; attributes that are set later change single values.
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
    void VisitParameters(weir::ParameterVisitor& visitor) override;

    weir::FabricSpec m_spec;                        //!< except kind and routing
    ComponentChoice<weir::FabricKind> m_kind;       //!< the kind
    ComponentChoice<weir::RoutingPolicy> m_routing; //!< the routing policy
};

} // namespace ns3

#endif // WEIR_MODEL_NETWORK_DESCRIPTION_H
