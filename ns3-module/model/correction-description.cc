// SPDX-License-Identifier: GPL-2.0-only
#include "correction-description.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CorrectionDescription);

namespace
{

/**
 * Plain components as AddParameterAttributes takes them.
 * @param spec that has them
 * @return the components
 */
std::vector<ParameterComponent>
ComponentsOf(weir::CorrectionSpec& spec)
{
    std::vector<ParameterComponent> components;
    for (const auto& part : spec.Parts())
    {
        components.push_back({"", part.second});
    }
    return components;
}

} // namespace

TypeId
CorrectionDescription::GetTypeId()
{
    static TypeId tid = TypeId("ns3::CorrectionDescription")
                            .SetParent<Object>()
                            .SetGroupName("Weir")
                            .AddConstructor<CorrectionDescription>();
    weir::CorrectionSpec spec;
    static TypeId whole = AddParameterAttributes(tid, ComponentsOf(spec));
    return whole;
}

void
CorrectionDescription::SetSpec(const weir::CorrectionSpec& spec)
{
    m_spec = spec;
}

weir::CorrectionSpec
CorrectionDescription::GetSpec() const
{
    return m_spec;
}

std::vector<ParameterComponent>
CorrectionDescription::GetComponents()
{
    return ComponentsOf(m_spec);
}

} // namespace ns3
