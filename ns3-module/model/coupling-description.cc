// SPDX-License-Identifier: GPL-2.0-only
#include "coupling-description.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CouplingDescription);

TypeId
CouplingDescription::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<CouplingDescription>("ns3::CouplingDescription");
    return tid;
}

} // namespace ns3
