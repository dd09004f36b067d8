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
 * The congestion control of flows that move as packets, as attributes: its kind and the parameters
 * of all kinds. A preset is to be set before single values. Increase and Target, which are numbers,
 * rates or times by kind, are an attribute for each: SwiftIncrease, NsccTarget.
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
    ComponentChoice<weir::CongestionControl> m_control; //!< of all kinds one is meant
};

} // namespace ns3

#endif // WEIR_MODEL_CONGESTION_CONTROL_DESCRIPTION_H
