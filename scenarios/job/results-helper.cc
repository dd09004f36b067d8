// SPDX-License-Identifier: GPL-2.0-only
#include "results-helper.h"

#include "ns3/string.h"

namespace ns3
{

ResultsHelper::ResultsHelper(const std::string& file)
    : m_factory("ns3::RunRecorder")
{
    m_factory.Set("File", StringValue(file));
}

void
ResultsHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

Ptr<RunRecorder>
ResultsHelper::Install(const ClusterContainer& cluster) const
{
    Ptr<RunRecorder> recorder = m_factory.Create<RunRecorder>();
    recorder->Install(cluster.GetFabric());
    return recorder;
}

} // namespace ns3
