// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_GPU_SERVER_H
#define WEIR_MODEL_GPU_SERVER_H

#include "fluid-fabric.h"

#include "ns3/object.h"

namespace ns3
{

/**
 * Makes a Node a server of a cluster: its number, its GPUs and the fabric that it is wired to.
 * ClusterHelper aggregates it to each Node, so that the fabric can be reached by the path
 * "/NodeList/0/$ns3::GpuServer/Fabric".
 */
class GpuServer : public Object
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    /**
     * Makes this server @p index of a cluster.
     * @param fabric the cluster's fabric, wired
     */
    void Attach(Ptr<FluidFabric> fabric, uint32_t index);

    /** The cluster's fabric. */
    Ptr<FluidFabric> GetFabric() const
    {
        return m_fabric;
    }

    /** The number of the server in the cluster. */
    uint32_t GetIndex() const
    {
        return m_index;
    }

    /** The number of GPUs of the server. */
    uint32_t GetNGpus() const;

    /**
     * The number of a GPU in the cluster, as used by flows and jobs.
     * @param local its number within the server
     */
    uint32_t GetGpu(uint32_t local) const;

  protected:
    void DoDispose() override;

  private:
    Ptr<FluidFabric> m_fabric; //!< the cluster's
    uint32_t m_index{0};       //!< number of the server
};

} // namespace ns3

#endif // WEIR_MODEL_GPU_SERVER_H
