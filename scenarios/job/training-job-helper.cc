// SPDX-License-Identifier: GPL-2.0-only
#include "training-job-helper.h"

#include "ns3/abort.h"

namespace ns3
{

TrainingJobHelper::TrainingJobHelper(const weir::Network& network, const weir::Gpu& gpu)
    : m_factory("ns3::TrainingJob"),
      m_network(network),
      m_gpu(gpu)
{
}

void
TrainingJobHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
    if (name != "Framework")
    {
        m_set.emplace_back(name, value.Copy());
    }
}

void
TrainingJobHelper::SetComputeScale(const std::vector<double>& factors)
{
    m_computeScale = factors;
}

Ptr<TrainingJob>
TrainingJobHelper::Create() const
{
    Ptr<TrainingJob> job = m_factory.Create<TrainingJob>();
    for (const auto& [name, value] : m_set) // override those of the framework, defaults included
    {
        job->SetAttribute(name, *value);
    }
    return job;
}

Ptr<TrainingJob>
TrainingJobHelper::Install(const ClusterContainer& cluster) const
{
    std::vector<uint32_t> gpus = cluster.GetGpus();
    const uint32_t ranks = Create()->GetNRanks();
    NS_ABORT_MSG_IF(ranks > gpus.size(),
                    "TrainingJobHelper: the plan needs " << ranks << " GPUs, the cluster has "
                                                         << gpus.size());
    gpus.resize(ranks);
    return Install(cluster, gpus);
}

Ptr<TrainingJob>
TrainingJobHelper::Install(const ClusterContainer& cluster, const std::vector<uint32_t>& gpus) const
{
    Ptr<TrainingJob> job = Create();
    if (!m_computeScale.empty())
    {
        job->SetComputeScale(m_computeScale);
    }
    job->Install(cluster.GetFabric(), gpus, m_network, m_gpu);
    return job;
}

} // namespace ns3
