// SPDX-License-Identifier: GPL-2.0-only
#include "collective-runtime.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/string.h"

#include <exception>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CollectiveRuntime");

NS_OBJECT_ENSURE_REGISTERED(CollectiveRuntime);

TypeId
CollectiveRuntime::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CollectiveRuntime")
            .SetParent<Object>()
            .SetGroupName("Weir")
            .AddConstructor<CollectiveRuntime>()
            .AddAttribute("NcclVersion",
                          "NCCL version whose constants and algorithm selection apply.",
                          StringValue("2.30.7"),
                          MakeStringAccessor(&CollectiveRuntime::m_ncclVersion),
                          MakeStringChecker());
    return tid;
}

CollectiveRuntime::CollectiveRuntime()
{
    NS_LOG_FUNCTION(this);
}

CollectiveRuntime::~CollectiveRuntime()
{
    NS_LOG_FUNCTION(this);
}

Ptr<CollectiveRuntime>
CollectiveRuntime::Of(Ptr<FluidFabric> fabric)
{
    NS_ABORT_MSG_IF(!fabric, "CollectiveRuntime: found no fabric to install on, expected one");
    Ptr<CollectiveRuntime> runtime = fabric->GetObject<CollectiveRuntime>();
    if (!runtime)
    {
        runtime = CreateObject<CollectiveRuntime>();
        runtime->Install(fabric);
    }
    return runtime;
}

void
CollectiveRuntime::Install(Ptr<FluidFabric> fabric)
{
    NS_LOG_FUNCTION(this << fabric);
    try
    {
        m_simulation = std::make_unique<weir::Simulation>(
            fabric->GetFabric(), fabric->GetDriver()->GetEngines(), m_ncclVersion);
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG("CollectiveRuntime: " << error.what());
    }
    fabric->AggregateObject(this);
}

void
CollectiveRuntime::SetRecorded(bool isRecorded)
{
    m_isRecorded = isRecorded;
}

void
CollectiveRuntime::CheckUnrecorded(const char* job) const
{
    NS_ABORT_MSG_IF(m_isRecorded,
                    job << ": found a RunRecorder that was installed before it and would not "
                           "record it, expected the recorder to be installed after all jobs");
}

weir::Simulation&
CollectiveRuntime::GetSimulation()
{
    NS_ABORT_MSG_IF(!m_simulation, "CollectiveRuntime: not installed on a fabric");
    return *m_simulation;
}

} // namespace ns3
