// SPDX-License-Identifier: GPL-2.0-only
#include "congestion-control-description.h"

#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "fabric/transport/packet/congestion/no-congestion-control.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControlDescription);

TypeId
CongestionControlDescription::GetTypeId()
{
    static TypeId tid =
        MakeParameterizedType<CongestionControlDescription>("ns3::CongestionControlDescription");
    return tid;
}

CongestionControlDescription::CongestionControlDescription()
    : m_control("kind",
                "Congestion control of queue pairs:",
                weir::CongestionControls(),
                weir::NoCongestionControl())
{
}

weir::Polymorphic<weir::CongestionControl>
CongestionControlDescription::GetSpec() const
{
    return m_control.Get();
}

std::vector<ParameterComponent>
CongestionControlDescription::GetComponents()
{
    std::vector<ParameterComponent> components;
    m_control.AddTo(components);
    return components;
}

} // namespace ns3
