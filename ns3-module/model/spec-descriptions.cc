// SPDX-License-Identifier: GPL-2.0-only
#include "spec-descriptions.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CorrectionDescription);

TypeId
CorrectionDescription::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<CorrectionDescription>("ns3::CorrectionDescription");
    return tid;
}

NS_OBJECT_ENSURE_REGISTERED(CouplingDescription);

TypeId
CouplingDescription::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<CouplingDescription>("ns3::CouplingDescription");
    return tid;
}

NS_OBJECT_ENSURE_REGISTERED(PacketDescription);

TypeId
PacketDescription::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<PacketDescription>("ns3::PacketDescription");
    return tid;
}

PacketDescription::PacketDescription()
{
    m_spec.trafficClasses = 2;
}

} // namespace ns3
