// SPDX-License-Identifier: GPL-2.0-only
#include "object-reference.h"

#include "collective-job.h"
#include "run-recorder.h"
#include "training-job.h"

#include "ns3/type-id.h"

#include <algorithm>

namespace ns3
{

std::vector<ObjectType>
DescribeObjectTypes()
{
    // Links the object types into any program that calls this function.
    for (const TypeId& id :
         {CollectiveJob::GetTypeId(), RunRecorder::GetTypeId(), TrainingJob::GetTypeId()})
    {
        id.GetUid();
    }
    std::vector<ObjectType> types;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId id = TypeId::GetRegistered(i);
        if (id.GetGroupName() != "Weir")
        {
            continue;
        }
        ObjectType type{id.GetName(), id.GetParent().GetName(), {}, {}};
        for (std::size_t a = 0; a < id.GetAttributeN(); a++)
        {
            const auto info = id.GetAttribute(a);
            const std::string kind = info.checker->HasUnderlyingTypeInformation()
                                         ? info.checker->GetUnderlyingTypeInformation()
                                         : info.checker->GetValueTypeName();
            type.attributes.push_back(
                {info.name, info.help, kind, info.initialValue->SerializeToString(info.checker)});
        }
        for (std::size_t t = 0; t < id.GetTraceSourceN(); t++)
        {
            const auto info = id.GetTraceSource(t);
            type.traceSources.push_back({info.name, info.help, info.callback, ""});
        }
        types.push_back(std::move(type));
    }
    std::sort(types.begin(), types.end(), [](const ObjectType& a, const ObjectType& b) {
        return a.name < b.name;
    });
    return types;
}

} // namespace ns3
