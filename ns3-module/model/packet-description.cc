// SPDX-License-Identifier: GPL-2.0-only
#include "packet-description.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(PacketDescription);

namespace
{

/**
 * The default values.
 * @return them
 */
weir::PacketSpec
DefaultSpec()
{
    weir::PacketSpec spec;
    spec.trafficClasses = 2;
    return spec;
}

/**
 * Plain components as AddParameterAttributes takes them.
 * @param spec that has them
 * @return the components
 */
std::vector<ParameterComponent>
ComponentsOf(weir::PacketSpec& spec)
{
    std::vector<ParameterComponent> components{{"", &spec}};
    for (const auto& part : spec.Parts())
    {
        components.push_back({"", part.second});
    }
    return components;
}

} // namespace

TypeId
PacketDescription::GetTypeId()
{
    static TypeId tid = TypeId("ns3::PacketDescription")
                            .SetParent<Object>()
                            .SetGroupName("Weir")
                            .AddConstructor<PacketDescription>();
    auto spec = DefaultSpec();
    static TypeId whole = AddParameterAttributes(tid, ComponentsOf(spec));
    return whole;
}

PacketDescription::PacketDescription()
    : m_spec(DefaultSpec())
{
}

void
PacketDescription::SetSpec(const weir::PacketSpec& spec)
{
    m_spec = spec;
}

weir::PacketSpec
PacketDescription::GetSpec() const
{
    return m_spec;
}

std::vector<ParameterComponent>
PacketDescription::GetComponents()
{
    return ComponentsOf(m_spec);
}

} // namespace ns3
