// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_TRAINING_JOB_HELPER_H
#define WEIR_JOB_TRAINING_JOB_HELPER_H

#include "training-job.h"

#include "compute-model/kernels/gpu.h"
#include "compute-model/models/network.h"
#include "ns3/attribute.h"
#include "ns3/cluster-container.h"
#include "ns3/object-factory.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/** Puts training jobs on the GPUs of a cluster. */
class TrainingJobHelper
{
  public:
    /**
     * @param network what is trained: a weir::Transformer or a weir::LayerTable
     * @param gpu what the GPUs are
     */
    TrainingJobHelper(const weir::Network& network, const weir::Gpu& gpu);

    /**
     * Sets an attribute of the jobs to be installed.
     * @param name of an attribute of TrainingJob
     * @param value of the attribute
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Makes GPUs of the jobs to be installed slow (or fast).
     * @param factors on compute times, by rank; none: all 1
     */
    void SetComputeScale(const std::vector<double>& factors);

    /**
     * Installs a job on the first GPUs of a cluster, server after server.
     * @param cluster the cluster
     * @return the job
     */
    Ptr<TrainingJob> Install(const ClusterContainer& cluster) const;

    /**
     * Installs a job on some GPUs of a cluster.
     * @param cluster the cluster
     * @param gpus by rank, counted as in the cluster
     * @return the job
     */
    Ptr<TrainingJob> Install(const ClusterContainer& cluster,
                             const std::vector<uint32_t>& gpus) const;

  private:
    /**
     * Makes a job.
     * @return a job with the attributes that were set
     */
    Ptr<TrainingJob> Create() const;

    ObjectFactory m_factory;                                        //!< of jobs
    std::vector<std::pair<std::string, Ptr<AttributeValue>>> m_set; //!< attributes in their order
    weir::Network m_network;                                        //!< what is trained
    weir::Gpu m_gpu;                                                //!< what the GPUs are
    std::vector<double> m_computeScale;                             //!< by rank; empty: all 1
};

} // namespace ns3

#endif // WEIR_JOB_TRAINING_JOB_HELPER_H
