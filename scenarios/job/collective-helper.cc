// SPDX-License-Identifier: GPL-2.0-only
#include "collective-helper.h"

#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

CollectiveHelper::CollectiveHelper(const std::string& operation, uint64_t bytes)
    : m_factory("ns3::CollectiveJob")
{
    m_factory.Set("Operation", StringValue(operation));
    m_factory.Set("Bytes", UintegerValue(bytes));
}

void
CollectiveHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

Ptr<CollectiveJob>
CollectiveHelper::Install(const ClusterContainer& cluster) const
{
    return Install(cluster, cluster.GetGpus());
}

Ptr<CollectiveJob>
CollectiveHelper::Install(const ClusterContainer& cluster, const std::vector<uint32_t>& gpus) const
{
    Ptr<CollectiveJob> job = m_factory.Create<CollectiveJob>();
    job->Install(cluster.GetFabric(), gpus);
    return job;
}

} // namespace ns3
