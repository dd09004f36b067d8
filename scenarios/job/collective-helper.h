// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_COLLECTIVE_HELPER_H
#define WEIR_JOB_COLLECTIVE_HELPER_H

#include "collective-job.h"

#include "ns3/attribute.h"
#include "ns3/cluster-container.h"
#include "ns3/object-factory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/** Installs collective operations on the GPUs of a cluster. */
class CollectiveHelper
{
  public:
    /**
     * @param operation all-reduce, all-gather, reduce-scatter, broadcast, reduce, all-to-all,
     *        gather, scatter, send-recv (each rank to the next) or send (first rank to second)
     * @param bytes size as nccl-tests counts it (bytes)
     */
    CollectiveHelper(const std::string& operation, uint64_t bytes);

    /**
     * Sets an attribute of the jobs to be installed.
     * @param name of an attribute of CollectiveJob
     * @param value of the attribute
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /** Installs a job on all GPUs of a cluster. */
    Ptr<CollectiveJob> Install(const ClusterContainer& cluster) const;

    /**
     * Installs a job on some GPUs of a cluster.
     * @param cluster the cluster
     * @param gpus the group in rank order, as GPU numbers of the cluster
     * @return the job
     */
    Ptr<CollectiveJob> Install(const ClusterContainer& cluster,
                               const std::vector<uint32_t>& gpus) const;

  private:
    ObjectFactory m_factory; //!< of jobs
};

} // namespace ns3

#endif // WEIR_JOB_COLLECTIVE_HELPER_H
