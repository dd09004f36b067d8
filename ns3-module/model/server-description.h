// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_SERVER_DESCRIPTION_H
#define WEIR_MODEL_SERVER_DESCRIPTION_H

#include "link-figures.h"

#include "fabric/topology/cluster-spec.h"
#include "ns3/object.h"

#include <string>

namespace ns3
{

/**
 * The inside of a server as attributes: how many GPUs and NICs it has, and the figures of its
 * NVLink, PCIe and network links. By default an HGX H100 box with eight 400 Gb/s ports.
 *
 * All rates are those of one direction. An efficiency is the part of the rate that carries payload.
 */
class ServerDescription : public Object
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * Takes all figures from plain values; attributes set later change single ones.
     * @param spec the server
     */
    void SetSpec(const weir::NodeSpec& spec);

    /**
     * The server as plain values.
     * @return the server
     */
    weir::NodeSpec GetSpec() const;

  private:
    weir::NodeSpec m_spec;     //!< what is not an attribute
    std::string m_gpuModel;    //!< name of the description of its GPUs
    uint32_t m_gpus;           //!< GPUs
    uint32_t m_nvlinksPerGpu;  //!< into the NVSwitches
    uint32_t m_pcieSwitches;   //!< PCIe switches
    uint32_t m_sockets;        //!< sockets
    uint32_t m_nics;           //!< network ports
    LinkFigures m_nvlink;      //!< one NVLink
    LinkFigures m_pcie;        //!< GPU or NIC to PCIe switch
    LinkFigures m_pcieUplink;  //!< PCIe switch to socket
    LinkFigures m_interSocket; //!< between sockets
    LinkFigures m_nic;         //!< NIC port to switch
};

} // namespace ns3

#endif // WEIR_MODEL_SERVER_DESCRIPTION_H
