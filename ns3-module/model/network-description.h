// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_NETWORK_DESCRIPTION_H
#define WEIR_MODEL_NETWORK_DESCRIPTION_H

#include "parameter-attributes.h"

#include "fabric/topology/cluster-spec.h"

#include <vector>

namespace ns3
{

/**
 * The network between servers as attributes: its kind, how switches choose among equal paths, the
 * parameters of all kinds and routing policies. By default a rail-optimized Clos without
 * oversubscription, with ECMP, of the NICs' own links. A network from a file comes with SetSpec.
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
    void VisitParameters(weir::ParameterVisitor& visitor) override;

    weir::FabricSpec m_spec;                        //!< but for kind and routing
    ComponentChoice<weir::FabricKind> m_kind;       //!< of all kinds one is meant
    ComponentChoice<weir::RoutingPolicy> m_routing; //!< of all policies one is meant
};

} // namespace ns3

#endif // WEIR_MODEL_NETWORK_DESCRIPTION_H
