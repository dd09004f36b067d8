// SPDX-License-Identifier: GPL-2.0-only
#include "packet-description.h"

namespace ns3
{

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
