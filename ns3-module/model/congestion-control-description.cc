// SPDX-License-Identifier: GPL-2.0-only
#include "congestion-control-description.h"

#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "ns3/abort.h"
#include "ns3/string.h"

#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControlDescription);

namespace
{

using Controls = std::vector<weir::Polymorphic<weir::CongestionControl>>;

/**
 * One of every kind, with its defaults.
 * @return the kinds
 */
Controls
AllControls()
{
    const auto controls = weir::CongestionControls();
    return {controls.begin(), controls.end()};
}

/**
 * Plain components as AddParameterAttributes takes them.
 * @param controls the components
 * @return them
 */
std::vector<ParameterComponent>
ComponentsOfControls(Controls& controls)
{
    std::vector<ParameterComponent> components;
    for (auto& control : controls)
    {
        components.push_back({control->Name(), &*control});
    }
    return components;
}

/**
 * The names of all kinds as one text.
 * @return the names
 */
std::string
ControlNames()
{
    std::string names;
    for (const std::string& name : weir::CongestionControls().Names())
    {
        names += (names.empty() ? "" : ", ") + name;
    }
    return names;
}

} // namespace

TypeId
CongestionControlDescription::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CongestionControlDescription")
            .SetParent<Object>()
            .SetGroupName("Weir")
            .AddConstructor<CongestionControlDescription>()
            .AddAttribute("Kind",
                          "How fast a queue pair may send: " + ControlNames() + ".",
                          StringValue("none"),
                          MakeStringAccessor(&CongestionControlDescription::SetKind,
                                             &CongestionControlDescription::GetKind),
                          MakeStringChecker());
    auto controls = AllControls();
    static TypeId whole = AddParameterAttributes(tid, ComponentsOfControls(controls));
    return whole;
}

CongestionControlDescription::CongestionControlDescription()
    : m_kinds(AllControls())
{
}

weir::Polymorphic<weir::CongestionControl>
CongestionControlDescription::GetSpec() const
{
    return m_kinds[m_kind];
}

std::vector<ParameterComponent>
CongestionControlDescription::GetComponents()
{
    auto components = ComponentsOfControls(m_kinds);
    std::swap(components.front(), components[m_kind]);
    return components;
}

void
CongestionControlDescription::SetKind(std::string kind)
{
    m_kind = 0;
    while (m_kind < m_kinds.size() && m_kinds[m_kind]->Name() != kind)
    {
        m_kind++;
    }
    NS_ABORT_MSG_IF(m_kind == m_kinds.size(),
                    "CongestionControlDescription: Kind is '"
                        << kind << "', expected one of: " << ControlNames());
}

std::string
CongestionControlDescription::GetKind() const
{
    return m_kinds[m_kind]->Name();
}

} // namespace ns3
