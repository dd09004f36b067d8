// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NODE_COSTS_H
#define WEIR_COLLECTIVES_NCCL_NODE_COSTS_H

#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * Per-message and per-call overheads of a node. Where a system does not give them, they are the
 * figures of the descriptions of architectures, hosts and transports (scenarios/architectures,
 * hosts, transports), with sources. A source begins with the origin of the figure: measured (the
 * figure itself was measured), fitted (it makes the model reproduce measured times), inferred (one
 * explanation of a measurement), estimate.
 */
namespace weir
{

/** The vendor's name in files; scenarios/hosts has a description of that name. */
const char* ToString(HostCpu cpu);

/**
 * Measured figures of a node's GPUs, hosts and NICs: overheads besides the time on links, and
 * bounds besides the rates of links.
 */
enum class NodeCostKind : uint8_t
{
    LlCall,          //!< start and end of a call under LL
    PcieEnd,         //!< addition at the end of a call where a GPU's stores go over PCIe
    LlStep,          //!< a step over NVLink under LL besides its passes
    LlPass,          //!< a step of less than a pass there, wire included
    LlPcieStep,      //!< a step over PCIe under LL
    SimplePcieStep,  //!< as above under Simple: a fence of all stores before the flag
    LlBlockRate,     //!< payload rate of a thread block under LL
    Ll128BlockRate,  //!< as above under LL128, in a ring
    BlockFloor,      //!< factor of the floors below
    BlockTime,       //!< factor of the times per MiB below
    SendFloor,       //!< minimum time of a slice that a thread block sends under Simple
    SendMebibyte,    //!< time per MiB of such slices
    ReduceSendFloor, //!< as SendFloor, for slices that it receives, reduces, and sends or keeps
    ReduceSendMebibyte,
    ReduceCopySendFloor, //!< as SendFloor, for slices that it receives, reduces, keeps and sends
    ReduceCopySendMebibyte,
    CopySendFloor, //!< as SendFloor, for slices that it receives, keeps and sends
    CopySendMebibyte,
    RecvFloor, //!< as SendFloor, for slices that it receives and keeps, or copies
    RecvMebibyte,
    NvlsSync,          //!< flags of one NVLS chunk inside a node
    NvlsNetworkSync,   //!< addition with a network
    NvlsEfficiency,    //!< factor of NVLS's rate over Hopper's
    CollNetEfficiency, //!< fraction of a head's port that CollNet Direct reaches
    KernelLaunch,      //!< process time for launching a collective, per GPU
    BlockLaunch,       //!< addition per thread block with one process for all GPUs, up to NCCL 2.18
    BlockLaunchSince19, //!< as above from NCCL 2.19 on
    IdleLaunch,         //!< time until a kernel runs on an idle GPU
    ProxyPost,          //!< process time for posting a message
    ProxyPoll,          //!< process time for polling the LL flags of 16 bytes
    MessageInline,      //!< largest message that is posted inline
    MessageFetch,       //!< time until the NIC has read a larger message
    MessageEager,       //!< largest message that is sent without rendezvous
    MessageRendezvous,  //!< rendezvous for a larger message
    MessageHandling,    //!< process time at each end for a larger message in a GPU's memory
    QueuePairRate,      //!< rate of one queue pair
    TreePortEfficiency //!< fraction of a port that NVLSTree reaches on three nodes or more with one
                       //!< queue pair
};

constexpr std::size_t NODE_COST_KINDS =
    static_cast<std::size_t>(NodeCostKind::TreePortEfficiency) + 1;

enum class NodeCostUnit : uint8_t
{
    Microseconds,
    GBps,
    Bytes,
    Factor
};

/** The YAML key of a kind, its unit, and the range of its values in a description. */
struct NodeCostFigure
{
    NodeCostKind kind;
    const char* key;
    NodeCostUnit unit;
    double min;
    double max;
};

/** One entry for each kind, in their order. */
const std::vector<NodeCostFigure>& NodeCostFigures();

/** The kind with that key. @throws std::invalid_argument when there is none. */
NodeCostKind NodeCostKindOf(const std::string& key);

/** A figure and the conditions that it was measured under. */
struct CostFigure
{
    NodeCost cost;
    double clockGhz{0}; //!< of the SMs: times scale inversely with it; 0: independent of it
    double portGBps{0}; //!< the figure scales with faster ports and does not apply to slower ones;
                        //!< 0: independent of the port
};

/** The costs in one description. */
struct CostDescription
{
    std::string folder; //!< "architectures", "hosts" or "transports"
    std::string name;
    std::string base;              //!< the description of its folder that it modifies; empty: none
    uint32_t computeCapability{0}; //!< of an architecture: the lowest one it applies to, times ten
    double clockGhz{0};            //!< boost clock of an architecture's SMs; 0: that of its base
    std::vector<CostFigure> figures;
};

/**
 * The descriptions of the catalog that Weir was built with; architectures in ascending order of
 * computeCapability. Generated by shipped-costs.cmake.
 */
const std::vector<CostDescription>& ShippedCosts();

/**
 * The figures for SMs of a clock and ports of a rate, in the order of @p figures, without those
 * measured on faster ports.
 */
std::vector<NodeCost> CostsAt(const std::vector<CostFigure>& figures, double clockGhz, Rate port);

/**
 * By kind, the figures of ShippedCosts for the GPUs, hosts and NICs of @p node, ignoring its own
 * `costs`. O(figures).
 */
std::array<NodeCost, NODE_COST_KINDS> DefaultCosts(const NodeSpec& node);

/**
 * The figures of all NodeCostKinds of a node: those of its description, else those of its GPUs'
 * architecture, its hosts' processors, its transport and the speed of its ports.
 */
class NodeCosts
{
  public:
    explicit NodeCosts(const NodeSpec& node);

    /** The value of a kind. Each throws std::logic_error for a kind of another unit. */
    Time TimeOf(NodeCostKind kind) const;
    Rate RateOf(NodeCostKind kind) const;
    Bytes BytesOf(NodeCostKind kind) const;
    double FactorOf(NodeCostKind kind) const;

    /** A figure as given, with its source. */
    const NodeCost& Get(NodeCostKind kind) const
    {
        return m_costs[static_cast<std::size_t>(kind)];
    }

  private:
    double Value(NodeCostKind kind, NodeCostUnit unit) const;

    std::array<NodeCost, NODE_COST_KINDS> m_costs; //!< by kind
};

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NODE_COSTS_H
