// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_CONSTANTS_H
#define WEIR_COLLECTIVES_NCCL_NCCL_CONSTANTS_H

#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/schedule/block-times.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** A release of NCCL: major, minor, patch. */
struct NcclVersion
{
    uint32_t major{2};
    uint32_t minor{30};
    uint32_t patch{7};

    /** @throws std::invalid_argument unless @p text is 2 or 3 numbers from 2.4 on, as "2.30.7". */
    static NcclVersion Parse(const std::string& text);

    bool AtLeast(uint32_t otherMinor, uint32_t otherPatch = 0) const
    {
        return major > 2 || minor > otherMinor || (minor == otherMinor && patch >= otherPatch);
    }
};

/** Whether NCCL runs @p algorithm under @p protocol: NVLS, CollNet and PAT know Simple only. */
bool HasProtocol(Algorithm algorithm, Protocol protocol);

/** NCCL's tables of bandwidths by release and GPU generation (tables.yaml). */
enum class NcclTable : uint8_t
{
    LlMaxInsideNode,
    LlMaxOverNodes,
    LlMaxOverAmdNodes,
    RingLl128,
    RingLl128Broadcast,
    RingLl128Reduce,
    RingLl128AllGather,
    RingLl128ReduceScatter,
    TreeLl128,
    Tree,
    NvlsTree,
    NvlsEfficiency,
    Nvlink,
    SpeedsInsideNode,
    SpeedsBetweenNodes
};

constexpr std::size_t NCCL_TABLES = static_cast<std::size_t>(NcclTable::SpeedsBetweenNodes) + 1;

/** A row of a table, from a GPU generation and a release on. */
struct NcclTableRow
{
    NcclTable table;
    uint32_t computeCapability; //!< times ten
    uint32_t since;             //!< of release 2
    std::vector<double> values; //!< GB/s
};

/** All rows. Written by nccl-tables.cmake. */
const std::vector<NcclTableRow>& NcclTableRows();

/**
 * NCCL's constants for one release on one kind of machine: src/graph/tuning.cc, search.cc and
 * topo.h of the tags from 2.7.8 to 2.30.7. Latencies are per step, bandwidths one direction. 2.4 to
 * 2.6 have the figures of 2.7.8, an estimate.
 */
class NcclConstants
{
  public:
    /** @p blocks of the GPUs; as on other GPUs of the architecture where they are not known. */
    NcclConstants(NcclVersion version,
                  uint32_t computeCapability,
                  HostCpu cpu,
                  const BlockTimes& blocks);
    NcclConstants(NcclVersion version, uint32_t computeCapability, HostCpu cpu);

    /** Paid once per call (baseLatencies). */
    Time BaseLatency(Algorithm algorithm, Protocol protocol) const;

    /** Of a ring. */
    Time BaseLatency(Protocol protocol) const
    {
        return BaseLatency(Algorithm::Ring, protocol);
    }

    /** One step over a connection of that kind, as the table has it (hwLatencies). */
    Time HardwareLatency(Algorithm algorithm, ConnectionKind kind, Protocol protocol) const;

    /**
     * One step as the formulas take it: to 2.17 steps inside a node cost 1.8 times as much under
     * LL when there are several nodes; from 2.18 every hop of a multi-node ring pays at least for
     * posting to the network; from 2.23 a group with one GPU per node uses the tree's network
     * latency.
     */
    Time StepLatency(Algorithm algorithm,
                     ConnectionKind kind,
                     Protocol protocol,
                     uint32_t nodes,
                     uint32_t gpusPerNode) const;

    /** Of a ring. */
    Time StepLatency(ConnectionKind kind,
                     Protocol protocol,
                     uint32_t nodes,
                     uint32_t gpusPerNode) const
    {
        return StepLatency(Algorithm::Ring, kind, protocol, nodes, gpusPerNode);
    }

    /** Upper bound of what LL moves on all channels together (llMaxBws), GB/s of payload. */
    double LlMaxBandwidth(uint32_t nodes) const;

    /** Upper bound of ring LL128 per channel of the search graph (perChMaxRingLL128Bws), GB/s. */
    double Ll128ChannelBandwidth(uint32_t nodes, CollectiveOp op = CollectiveOp::AllReduce) const;

    /** The same of tree LL128 (perChMaxTreeLL128Bws). */
    double TreeLl128ChannelBandwidth(uint32_t nodes) const;

    /** Upper bound of a tree per channel of its graph, whatever the protocol (perChMaxTreeBws). */
    double TreeChannelBandwidth(uint32_t nodes) const;

    /** The same of NVLSTree (perChMaxNVLSTreeBws, from 2.28); infinite before. */
    double NvlsTreeChannelBandwidth(uint32_t nodes) const;

    /** Of NVLink's rate what NVLS reaches (nvlsEfficiency, from 2.28); 1 before. */
    double NvlsEfficiency() const;

    /** How long slices keep a thread block busy; a measured property of the GPU, not NCCL's. */
    const BlockTimes& GetBlockTimes() const
    {
        return m_blockTimes;
    }

    /**
     * What one channel's thread block moves at most, GB/s on the wire: of the two primitives that
     * make up most of a ring all-reduce.
     */
    double BlockBandwidth() const;

    /** One NVLink of this GPU generation, one direction, GB/s (topo.h). */
    double NvLinkBandwidth() const;

    /** Speeds per channel that the ring search tries, fastest first, GB/s. */
    const std::vector<double>& SearchSpeeds(bool interNode) const;

    uint32_t MaxChannels() const; //!< MAXCHANNELS

    uint32_t ComputeCapability() const
    {
        return m_computeCapability;
    }

    HostCpu Cpu() const
    {
        return m_cpu;
    }

    /**
     * Whether a channel may go from one GPU to another relayed by a third that has NVLink to both
     * (PATH_NVB, from 2.9 on; P2P/indirect in NCCL's log).
     */
    bool ChannelsPassGpus() const
    {
        constexpr uint32_t SINCE = 9;
        return m_version.AtLeast(SINCE);
    }

    /**
     * Whether a GPU loads over NVLink what its peer has put into a buffer of its own, instead of
     * the peer storing it here (ncclTopoCheckP2p: between two of compute capability 8.0).
     */
    bool ReadsFromPeers() const
    {
        constexpr uint32_t AMPERE = 80;
        return m_computeCapability == AMPERE;
    }

    const NcclVersion& Version() const
    {
        return m_version;
    }

  private:
    /** The value of a table for @p index, the last for greater ones; infinite without a row. */
    double ValueOf(NcclTable table, uint32_t index = 0) const;

    NcclVersion m_version;
    uint32_t m_computeCapability;
    HostCpu m_cpu;
    BlockTimes m_blockTimes;
    std::array<const NcclTableRow*, NCCL_TABLES> m_tables{}; //!< null: no row
};

/**
 * Of NCCL's step latencies, the part that is the wire: the path latency of the machines they were
 * measured on. Weir replaces this part by the path latency of the simulated topology, so that on
 * such a machine a step costs NCCL's constant and on a longer fabric more. Derived, not printed by
 * any source: NVLink, GPU to NVSwitch to GPU, 2 x 0.15 us; PCIe, two links and a switch, 2 x 0.3
 * us; network, GPU-switch-NIC on both sides and two switch hops of 0.3 us, 4 x 0.3 + 2 x 0.3 us.
 */
Time ReferencePropagation(ConnectionKind kind);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_CONSTANTS_H
