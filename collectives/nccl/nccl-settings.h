// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H
#define WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H

#include "collectives/algorithms/dimension-wise/dimension-wise-settings.h"
#include "collectives/collective.h"
#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/node-costs.h"
#include "fabric/parameters/parameter-visitor.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** @p name normalized as in NCCL's comparisons: lower case, without hyphens and underscores. */
std::string NormalizedNcclName(const std::string& name);

/**
 * The algorithms and protocols that NCCL may choose, by operation.
 *
 * The syntax is that of NCCL_ALGO and NCCL_PROTO since 2.24 (tuning.cc, parseList): lists of names
 * separated by commas, for operations separated by semicolons. "ring,tree" applies to all
 * operations, "allreduce:tree;allgather:ring" to these two. Only the first list may lack its
 * operation; it then applies to those that no later list names. A list that begins with ^ excludes
 * its names. Case, hyphens and underscores are ignored. Sends and receives are not filtered. Before
 * 2.24 rings stayed for all operations but all-reduce (NcclEstimates).
 */
class NcclFilter
{
  public:
    /** A filter that allows everything. */
    NcclFilter();

    /** @throws std::invalid_argument that says what was found and expected. */
    void SetAlgorithms(const std::string& text);
    void SetProtocols(const std::string& text);

    /** The text that was set; empty: all allowed. */
    const std::string& GetAlgorithms() const
    {
        return m_algorithmsText;
    }

    const std::string& GetProtocols() const
    {
        return m_protocolsText;
    }

    bool Allows(CollectiveOp op, Algorithm algorithm) const;
    bool Allows(CollectiveOp op, Protocol protocol) const;

  private:
    using Masks = std::array<uint32_t, static_cast<std::size_t>(LAST_COLLECTIVE_OP) + 1>;

    Masks m_algorithms; //!< by operation: a bit for each allowed algorithm
    Masks m_protocols;  //!< by operation: a bit for each allowed protocol
    std::string m_algorithmsText;
    std::string m_protocolsText;
};

/**
 * One line of the CSV file that NCCL's example tuner plug-in reads
 * (plugins/tuner/example/nccl_tuner.conf): the calls that it applies to, and its decision for them.
 * Open conditions (-1 in the file) fit any call; open decisions stay NCCL's choice.
 */
struct TunerRule
{
    CollectiveOp op{CollectiveOp::AllReduce};
    Bytes minBytes;
    Bytes maxBytes; //!< inclusive
    std::optional<Algorithm> algorithm;
    std::optional<Protocol> protocol;
    std::optional<uint32_t> channels;
    std::optional<uint32_t> nodes;
    std::optional<uint32_t> ranks;
    bool isOfOtherCalls{false}; //!< for grouped calls (numPipeOps) or registered buffers; none here

    bool Fits(CollectiveOp op, Bytes bytes, uint32_t nodes, uint32_t ranks) const;
};

/**
 * Reads lines `collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks` with
 * two optional columns, numPipeOps and regBuff: calls are grouped with no other and have buffers
 * without registration. Empty lines, lines that begin with # and a header line are skipped.
 *
 * @param file its name, for error messages
 * @throws std::invalid_argument with file, line, column, and what was found and expected.
 */
std::vector<TunerRule> ParseTunerRules(const std::string& text, const std::string& file);

/** The processes that launch a collective's kernels. */
enum class LaunchMode : uint8_t
{
    ProcessPerGpu, //!< one process per GPU: all launch at the same time, ahead of their GPUs
    OneProcess,    //!< one process per node, which launches on its GPUs one after the other
    Threads,       //!< one process per node with a thread per GPU: as ProcessPerGpu, in one address
                   //!< space
    Waited,        //!< one process per GPU, which launches when the previous call has ended
    Graph          //!< a CUDA graph of many calls, without launches by the host
};

constexpr LaunchMode LAST_LAUNCH_MODE = LaunchMode::Graph;

const char* ToString(LaunchMode mode);

/** Whether one process has all GPUs of a node, whose kernels may then access each other's buffers.
 */
bool SharesAddressSpace(LaunchMode mode);

/**
 * Minimum time that launching one collective keeps a process busy: one kernel after the other on
 * its GPUs (NodeCostKind::KernelLaunch). It bounds the rate of back-to-back calls, as in
 * nccl-tests. Zero in a graph, whose kernels the GPU itself starts.
 */
Time LaunchTime(const NodeCosts& costs, LaunchMode mode, uint32_t gpusPerNode);

/**
 * Additional time of a call when one process serves all GPUs, proportional to its kernels' thread
 * blocks (NodeCostKind::BlockLaunch, BlockLaunchSince19), independent of the number of GPUs and the
 * operation. Zero where every GPU has its own process.
 */
Time BlockLaunchTime(const NodeCosts& costs,
                     LaunchMode mode,
                     const NcclVersion& version,
                     uint32_t blocks);

/**
 * Additional time of a call that is launched only when the previous one has ended: until the
 * framework, the driver and the streams' events have started its kernel on an idle GPU
 * (NodeCostKind::IdleLaunch). Zero where launches run ahead.
 */
Time IdleLaunchTime(const NodeCosts& costs, LaunchMode mode);

/** NCCL_CROSS_NIC: whether a channel may leave a node by another NIC than the one it enters by. */
enum class CrossNic : uint8_t
{
    Never,   //!< 0: the same NIC everywhere
    Always,  //!< 1: any NIC
    IfFaster //!< 2: pairs of channels that swap two NICs, where that is faster
};

/**
 * NCCL_P2P_LEVEL: the farthest kind of path over which GPUs of a node copy to each other directly.
 * Over farther paths they copy through the host's memory (NCCL's SHM).
 */
enum class P2pLevel : uint8_t
{
    Local,      //!< LOC: none
    NvLink,     //!< NVL: NVLink
    Switch,     //!< PIX: one PCIe switch
    Switches,   //!< PXB: several PCIe switches
    HostBridge, //!< PHB: the root complex of a socket, which SHM passes too
    System      //!< SYS: between sockets
};

/** Default of NCCL_BUFFSIZE: the buffer of a connection on one channel under Simple. */
constexpr Bytes SIMPLE_BUFFER = Bytes::MiB(4);

/**
 * The buffer has 8 slots, each a whole number of NCCL's aligned chunks: it is a multiple of this.
 */
constexpr Bytes SIMPLE_BUFFER_STEP = Bytes::KiB(8);
constexpr Bytes MAX_SIMPLE_BUFFER = Bytes::GiB(1);

/** Limits of the number of channels, applied to what the search finds. */
struct ChannelLimits
{
    uint32_t min{1};   //!< NCCL_MIN_NCHANNELS, NCCL_MIN_CTAS: channels are copied up to this number
    uint32_t max{128}; //!< NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS

    /** @p channels within these limits, and at most NCCL's own maximum @p ofNccl. */
    uint32_t Apply(uint32_t channels, uint32_t ofNccl) const
    {
        return std::min({std::max(channels, min), max, ofNccl});
    }
};

/** NCCL's settings for a run: everything in its environment that changes its behavior. */
struct NcclSettings : Parameterized
{
    NcclSettings() = default;

    /** The settings of a version, with defaults for the rest. */
    NcclSettings(std::string aVersion) // NOLINT: a version is settings
        : version(std::move(aVersion))
    {
    }

    NcclSettings(const char* aVersion) // NOLINT
        : version(aVersion)
    {
    }

    std::string version{"2.30.7"}; //!< the release whose constants and choices apply
    LaunchMode launch{LaunchMode::ProcessPerGpu};
    uint32_t queuePairs{1}; //!< NCCL_IB_QPS_PER_CONNECTION
    bool mergeNics{true};   //!< NCCL_IB_MERGE_NICS: whether the ports of a NIC are one device
    bool pxn{true}; //!< whether GPUs send through another GPU, near the NIC; not NCCL_PXN_DISABLE
    ChannelLimits channelLimits;
    CrossNic crossNic{CrossNic::IfFaster};
    P2pLevel p2pLevel{P2pLevel::System};
    bool symmetricMemory{false}; //!< whether all buffers are windows in symmetric memory
    Bytes simpleBuffer{SIMPLE_BUFFER};
    NcclFilter filter;            //!< NCCL_ALGO, NCCL_PROTO
    std::vector<TunerRule> tuner; //!< the first rule that fits a call decides it
    DimensionWiseSettings dimensionWise;

    /**
     * Number of ports of a NIC that NCCL sees as one device (ncclIbMergeNics of 2.20,
     * NCCL_NET_MERGE_LEVEL=PORT of 2.24); 1 where it merges none. SHARP's devices are never merged.
     */
    uint32_t MergedPorts(const NodeSpec& node) const;

    /** Keys of all settings but the version that differ from their defaults: "queuePairs", ... */
    std::vector<std::string> Changed() const;

    /** Visits the settings that have one value for all calls. */
    void VisitParameters(ParameterVisitor& visitor) override;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H
