// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_MULTICAST_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_MULTICAST_H

#include "collectives/channels/connection.h"
#include "collectives/nccl/node-costs.h"
#include "fabric/routing/routing.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * What the reducing and multicasting accesses of NVLS load on the NVLinks of one node.
 *
 * A head GPU works on 128-byte lines: multimem.ld_reduce asks the NVSwitch, which reads the line
 * from every GPU of the group (the head too), sums, and answers the head once; multimem.st goes to
 * the NVSwitch once and from there to every GPU. NVLink packets are of 16-byte flits (see
 * NvLinkFraming): a read request is 1, a response 1 + 8 of data, a write 2 + 8 (header and address
 * extension). So per line of a head
 *  - each GPU sends 9 and receives 1 for a reduction, the head 1 and 9 more;
 *  - each GPU receives 10 for a store, and the head sends 10.
 * The flits are the multiplicities of the paths given here; bytes on them are payload times
 * MulticastWireFactor. With n heads that share a message a GPU receives 11n + 9 flits per 8n of
 * data: of the 450 GB/s of 18 NVLinks 4, n = 8, 297 GB/s of all-reduced data. (An H100 box was
 * measured to need 3.5 us per MiB, 297 GB/s; the figures are at NvlsSyncLatency. That a request
 * takes one flit and a line goes as one packet is assumed here, as no public document says it;
 * this measurement bears it out, on 8 GPUs.)
 */
class MulticastGroup
{
  public:
    /** @param gpus of one node, joined by NVSwitches. Both references must outlive it. */
    MulticastGroup(Connector& connector, Routing& routing, std::vector<GpuId> gpus);

    /** One line reduced to GPU number @p head of the group. */
    std::vector<LinkId> Reduction(uint32_t head) const;

    /** One line stored to all by GPU number @p head. */
    std::vector<LinkId> Store(uint32_t head) const;

    /** From one GPU over an NVSwitch to another. */
    Time CrossingLatency() const
    {
        return m_crossing;
    }

  private:
    void Add(std::vector<LinkId>& links, uint32_t gpu, bool up, uint32_t flits) const;

    std::vector<std::vector<LinkId>> m_up;   //!< by GPU: its NVLinks to the switches
    std::vector<std::vector<LinkId>> m_down; //!< by GPU: the other directions
    Time m_crossing;
};

/**
 * Bytes on the links of a MulticastGroup per byte of payload and flit of a line: flit over line,
 * over what framing and measured leave of the raw rate (the flits hold all headers already), over
 * the NVLinks of a GPU that share the load, over NodeCostKind::NvlsEfficiency. Hopper: 1, the flits
 * explain it.
 */
double MulticastWireFactor(const Cluster& cluster, const NodeCosts& costs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_MULTICAST_H
