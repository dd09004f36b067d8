// SPDX-License-Identifier: GPL-2.0-only
#include "flow-source-helper.h"

#include "ns3/abort.h"
#include "ns3/node.h"
#include "ns3/uinteger.h"

namespace ns3
{

FlowSourceHelper::FlowSourceHelper()
    : FlowSourceHelper(std::vector<uint32_t>())
{
}

FlowSourceHelper::FlowSourceHelper(const std::vector<uint32_t>& destinations)
    : m_factory("ns3::FlowSource"),
      m_destinations(destinations)
{
}

ApplicationContainer
FlowSourceHelper::Install(const ClusterContainer& cluster, const std::vector<uint32_t>& gpus) const
{
    const auto check = [&cluster](uint32_t gpu, const char* what) {
        NS_ABORT_MSG_IF(gpu >= cluster.GetNGpus(),
                        "FlowSourceHelper: found " << what << " GPU " << gpu
                                                   << ", expected an index below "
                                                   << cluster.GetNGpus());
    };
    for (const uint32_t gpu : m_destinations)
    {
        check(gpu, "receiving");
    }
    ApplicationContainer sources;
    for (const uint32_t gpu : gpus)
    {
        check(gpu, "sending");
        Ptr<FlowSource> source = m_factory.Create<FlowSource>();
        source->SetAttribute("Gpu", UintegerValue(gpu % cluster.GetNGpusPerServer()));
        source->SetDestinations(m_destinations);
        cluster.GetServers().Get(gpu / cluster.GetNGpusPerServer())->AddApplication(source);
        sources.Add(source);
    }
    return sources;
}

int64_t
FlowSourceHelper::AssignStreams(const ApplicationContainer& sources, int64_t stream) const
{
    int64_t next = stream;
    for (auto source = sources.Begin(); source != sources.End(); ++source)
    {
        next += DynamicCast<FlowSource>(*source)->AssignStreams(next);
    }
    return next - stream;
}

} // namespace ns3
