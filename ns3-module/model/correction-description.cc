// SPDX-License-Identifier: GPL-2.0-only
#include "correction-description.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CorrectionDescription);

TypeId
CorrectionDescription::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<CorrectionDescription>("ns3::CorrectionDescription");
    return tid;
}

} // namespace ns3
