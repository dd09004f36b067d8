// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_CONGESTION_CONTROL_DESCRIPTION_H
#define WEIR_MODEL_CONGESTION_CONTROL_DESCRIPTION_H

#include "parameter-attributes.h"

#include "fabric/parameters/polymorphic.h"
#include "fabric/transport/packet/congestion/congestion-control.h"

#include <vector>

namespace ns3
{

/**
 * The congestion control of packet flows as attributes: its kind and the parameters of all kinds. A
 * preset must be set before single values. Increase and Target, which are numbers, rates or times
 * depending on the kind, have one attribute per kind: SwiftIncrease, NsccTarget.
 */
class CongestionControlDescription : public ParameterizedObject
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    CongestionControlDescription();

    /**
     * The congestion control as plain values.
     * @return the values
     */
    weir::Polymorphic<weir::CongestionControl> GetSpec() const;

    std::vector<ParameterComponent> GetComponents() override;

  private:
    ComponentChoice<weir::CongestionControl> m_control; //!< the kind
};

} // namespace ns3

#endif // WEIR_MODEL_CONGESTION_CONTROL_DESCRIPTION_H
