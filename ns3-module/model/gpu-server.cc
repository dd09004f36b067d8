// SPDX-License-Identifier: GPL-2.0-only
#include "gpu-server.h"

#include "ns3/abort.h"
#include "ns3/pointer.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(GpuServer);

TypeId
GpuServer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::GpuServer")
                            .SetParent<Object>()
                            .SetGroupName("Weir")
                            .AddConstructor<GpuServer>()
                            .AddAttribute("Fabric",
                                          "Fabric to which the server is connected.",
                                          TypeId::ATTR_GET,
                                          PointerValue(),
                                          MakePointerAccessor(&GpuServer::GetFabric),
                                          MakePointerChecker<FluidFabric>())
                            .AddAttribute("Index",
                                          "Index of the server in its cluster.",
                                          TypeId::ATTR_GET,
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&GpuServer::GetIndex),
                                          MakeUintegerChecker<uint32_t>());
    return tid;
}

void
GpuServer::DoDispose()
{
    m_fabric = nullptr;
    Object::DoDispose();
}

void
GpuServer::Attach(Ptr<FluidFabric> fabric, uint32_t index)
{
    NS_ABORT_MSG_IF(!fabric, "GpuServer: found no fabric, expected one");
    NS_ABORT_MSG_IF(index >= fabric->GetFabric().GetCluster().NodeCount(),
                    "GpuServer: the cluster has no server " << index);
    m_fabric = fabric;
    m_index = index;
}

uint32_t
GpuServer::GetNGpus() const
{
    NS_ABORT_MSG_IF(!m_fabric, "GpuServer: not attached to a fabric");
    return m_fabric->GetFabric().GetCluster().GpusPerNode();
}

uint32_t
GpuServer::GetGpu(uint32_t local) const
{
    NS_ABORT_MSG_IF(local >= GetNGpus(),
                    "GpuServer: server " << m_index << " has no GPU " << local);
    return m_index * GetNGpus() + local;
}

} // namespace ns3
