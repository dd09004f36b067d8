// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_SERVER_DESCRIPTION_H
#define WEIR_MODEL_SERVER_DESCRIPTION_H

#include "parameter-attributes.h"

#include "fabric/topology/cluster-spec.h"

#include <vector>

namespace ns3
{

/**
 * The inside of a server as attributes: the numbers of GPUs and NICs, and its NVLink, PCIe and
 * network links. By default an HGX H100 server with eight 400 Gb/s ports.
 *
 * All rates are those of one direction. An efficiency is the fraction of the rate that carries
 * payload.
 */
class ServerDescription : public ParameterizedObject, private weir::Parameterized
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    ServerDescription();

    /**
     * Sets all values; attributes that are set later change single values.
     * @param spec the server
     */
    void SetSpec(const weir::NodeSpec& spec);

    /**
     * The server as plain values.
     * @return the server
     */
    weir::NodeSpec GetSpec() const;

    std::vector<ParameterComponent> GetComponents() override;

  private:
    void VisitParameters(weir::ParameterVisitor& visitor) override;

    weir::NodeSpec m_spec; //!< the server
};

} // namespace ns3

#endif // WEIR_MODEL_SERVER_DESCRIPTION_H
