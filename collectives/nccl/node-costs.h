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
 * Per-message overheads of a node. Where a system does not say otherwise they are the figures of
 * descriptions of architectures, hosts and transports (scenarios/architectures, hosts, transports),
 * with sources. These begin with how the figure came from them: measured (it is what was measured),
 * fitted (it makes the model's times those measured), inferred (it is one explanation of what was
 * measured), estimate.
 */
namespace weir
{

/**
 * The per-message overheads of a node beside the links' time, and what of a node bounds it
 * beside the links' rates: measured figures of its GPUs, hosts and NICs.
 */
enum class NodeCostKind : uint8_t
{
    LlCall,          //!< a call's start and end under LL
    PcieEnd,         //!< more at its end, where a GPU's stores go over PCIe
    LlStep,          //!< a step over NVLink under LL beside its passes
    LlPass,          //!< what less than a pass takes there, wire included
    LlPcieStep,      //!< a step over PCIe under LL
    SimplePcieStep,  //!< the same under Simple: a fence of all stores before the flag
    LlBlockRate,     //!< payload that a thread block moves under LL
    Ll128BlockRate,  //!< as above under LL128, in a ring
    BlockFloor,      //!< factor of the floors below
    BlockTime,       //!< factor of the times of a MiB below
    SendFloor,       //!< least time of a slice that a thread block sends under Simple
    SendMebibyte,    //!< the same for a MiB of them
    ReduceSendFloor, //!< as above of what it receives, reduces and sends or keeps
    ReduceSendMebibyte,
    ReduceCopySendFloor, //!< of what it receives, reduces, keeps and sends
    ReduceCopySendMebibyte,
    CopySendFloor, //!< of what it receives, keeps and sends
    CopySendMebibyte,
    RecvFloor, //!< of what it receives and keeps, or copies
    RecvMebibyte,
    NvlsSync,           //!< flags of one chunk of NVLS inside a node
    NvlsNetworkSync,    //!< more with a network
    NvlsEfficiency,     //!< of NVLS's rate, over Hopper's
    CollNetEfficiency,  //!< of a head's port, what CollNet direct reaches
    KernelLaunch,       //!< what launching a collective keeps its process busy for, by GPU
    BlockLaunch,        //!< more by thread block with one process for all GPUs, to NCCL 2.18
    BlockLaunchSince19, //!< the same from NCCL 2.19 on
    IdleLaunch,         //!< until a kernel runs on an idle GPU
    ProxyPost,          //!< what posting a message keeps the process busy for
    ProxyPoll,          //!< the same for polling the LL flags of 16 bytes
    MessageInline,      //!< largest message that is posted with its bytes
    MessageFetch,       //!< until the NIC has read a larger one
    MessageEager,       //!< largest message that is sent without asking the receiver
    MessageRendezvous,  //!< asking for a larger one
    MessageHandling,    //!< what a larger one in a GPU's memory keeps each end's process busy for
    QueuePairRate,      //!< what one queue pair moves
    TreePortEfficiency  //!< of a port, what NVLSTree reaches over three nodes or more, by one pair
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

/** How a kind is written, and between which bounds a description may give it. */
struct NodeCostFigure
{
    NodeCostKind kind;
    const char* key;
    NodeCostUnit unit;
    double least;
    double most;
};

/** One for each kind, in their order. */
const std::vector<NodeCostFigure>& NodeCostFigures();

/** The kind of that key. @throws std::invalid_argument when there is none. */
NodeCostKind NodeCostKindOf(const std::string& key);

/** A figure and what it was measured at. */
struct CostFigure
{
    NodeCost cost;
    double clockGhz{0}; //!< of the SMs: the figure is that many times longer where theirs is
                        //!< slower; 0: whatever the clock
    double portGBps{0}; //!< faster ports have the figure in proportion, slower ones have no bound;
                        //!< 0: whatever the port
};

/** What a description says of costs. */
struct CostDescription
{
    std::string folder; //!< "architectures", "hosts" or "transports"
    std::string name;
    std::string base;              //!< the one of its folder that it differs from; empty: none
    uint32_t computeCapability{0}; //!< of an architecture, from which on, times ten
    double clockGhz{0};            //!< boost clock of an architecture's SMs; 0: its base's
    std::vector<CostFigure> figures;
};

/** Those of the catalogue that Weir was built with: an architecture's come by computeCapability,
 * growing. Written by shipped-costs.cmake. */
const std::vector<CostDescription>& ShippedCosts();

/** The figures for SMs of a clock and ports of a rate, in the order of @p figures; those of faster
 * ports are left out. */
std::vector<NodeCost> CostsAt(const std::vector<CostFigure>& figures, double clockGhz, Rate port);

/** By kind, what ShippedCosts has for the GPUs, hosts and NICs of @p node; its own `costs` do not
 * count. O(figures). */
std::array<NodeCost, NODE_COST_KINDS> DefaultCosts(const NodeSpec& node);

/**
 * All figures of a node's NodeCostKinds: what its description gives, else what holds for its GPUs'
 * architecture, its hosts' processors, its transport and the speed of its ports.
 */
class NodeCosts
{
  public:
    explicit NodeCosts(const NodeSpec& node);

    /** Each throws std::logic_error for a kind of another unit. */
    Time TimeOf(NodeCostKind kind) const;
    Rate RateOf(NodeCostKind kind) const;
    Bytes BytesOf(NodeCostKind kind) const;
    double FactorOf(NodeCostKind kind) const;

    /** A figure as it is, with what it comes from. */
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
