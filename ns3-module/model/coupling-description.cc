// SPDX-License-Identifier: GPL-2.0-only
#include "coupling-description.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CouplingDescription);

TypeId
CouplingDescription::GetTypeId()
{
    static TypeId tid = TypeId("ns3::CouplingDescription")
                            .SetParent<Object>()
                            .SetGroupName("Weir")
                            .AddConstructor<CouplingDescription>();
    weir::CouplingSpec spec;
    static TypeId whole = AddParameterAttributes(tid, {{"", &spec}});
    return whole;
}

weir::CouplingSpec
CouplingDescription::GetSpec() const
{
    return m_spec;
}

std::vector<ParameterComponent>
CouplingDescription::GetComponents()
{
    return {{"", &m_spec}};
}

} // namespace ns3
