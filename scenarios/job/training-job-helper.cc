// SPDX-License-Identifier: GPL-2.0-only
#include "training-job-helper.h"

#include "ns3/abort.h"

namespace ns3
{

TrainingJobHelper::TrainingJobHelper(const weir::Transformer& model, const weir::Gpu& gpu)
    : m_factory("ns3::TrainingJob"),
      m_model(model),
      m_gpu(gpu)
{
}

void
TrainingJobHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

Ptr<TrainingJob>
TrainingJobHelper::Install(const ClusterContainer& cluster) const
{
    std::vector<uint32_t> gpus = cluster.GetGpus();
    const uint32_t ranks = m_factory.Create<TrainingJob>()->GetNRanks();
    NS_ABORT_MSG_IF(ranks > gpus.size(),
                    "TrainingJobHelper: the plan needs " << ranks << " GPUs, the cluster has "
                                                         << gpus.size());
    gpus.resize(ranks);
    return Install(cluster, gpus);
}

Ptr<TrainingJob>
TrainingJobHelper::Install(const ClusterContainer& cluster, const std::vector<uint32_t>& gpus) const
{
    Ptr<TrainingJob> job = m_factory.Create<TrainingJob>();
    job->Install(cluster.GetFabric(), gpus, m_model, m_gpu);
    return job;
}

} // namespace ns3
