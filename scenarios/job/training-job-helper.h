// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_TRAINING_JOB_HELPER_H
#define WEIR_JOB_TRAINING_JOB_HELPER_H

#include "training-job.h"

#include "compute-model/kernels/gpu.h"
#include "compute-model/models/layer-table.h"
#include "ns3/attribute.h"
#include "ns3/cluster-container.h"
#include "ns3/object-factory.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/** Installs training jobs on the GPUs of a cluster. */
class TrainingJobHelper
{
  public:
    /**
     * @param network the network to train: a weir::Transformer or a weir::LayerTable
     * @param gpu the GPU model
     */
    TrainingJobHelper(const weir::Network& network, const weir::Gpu& gpu);

    /**
     * Sets an attribute of the jobs to be installed.
     * @param name of an attribute of TrainingJob
     * @param value of the attribute
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Sets factors on the compute times of the jobs to be installed: slow (or fast) GPUs.
     * @param factors by rank; empty: all 1
     */
    void SetComputeScale(const std::vector<double>& factors);

    /**
     * Installs a job on the first GPUs of a cluster, in the order of its servers.
     * @param cluster the cluster
     * @return the job
     */
    Ptr<TrainingJob> Install(const ClusterContainer& cluster) const;

    /**
     * Installs a job on some GPUs of a cluster.
     * @param cluster the cluster
     * @param gpus by rank, as GPU numbers of the cluster
     * @return the job
     */
    Ptr<TrainingJob> Install(const ClusterContainer& cluster,
                             const std::vector<uint32_t>& gpus) const;

  private:
    /** Makes a job. @return a job with the attributes that were set */
    Ptr<TrainingJob> Create() const;

    ObjectFactory m_factory;                                        //!< of jobs
    std::vector<std::pair<std::string, Ptr<AttributeValue>>> m_set; //!< attributes in order
    weir::Network m_network;                                        //!< network to train
    weir::Gpu m_gpu;                                                //!< GPU model
    std::vector<double> m_computeScale;                             //!< by rank; empty: all 1
};

} // namespace ns3

#endif // WEIR_JOB_TRAINING_JOB_HELPER_H
