// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NODE_COST_H
#define WEIR_COLLECTIVES_NCCL_NODE_COST_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/**
 * The per-message overheads of a node beside the links' time, and what of a node bounds it
 * beside the links' rates: measured figures of its GPUs, hosts and NICs.
 */
enum class NodeCostKind : uint8_t
{
    LlCall,             //!< a call's start and end under LL
    PcieEnd,            //!< more at its end, where a GPU's stores go over PCIe
    LlStep,             //!< a step over NVLink under LL beside its passes
    LlPass,             //!< what less than a pass takes there, wire included
    LlPcieStep,         //!< a step over PCIe under LL
    SimplePcieStep,     //!< the same under Simple: a fence of all stores before the flag
    LlBlockRate,        //!< payload that a thread block moves under LL
    Ll128BlockRate,     //!< as above under LL128, in a ring
    BlockFloor,         //!< least times of primitives under Simple, over those of a GH200
    BlockTime,          //!< times by byte of primitives under Simple, over those of a GH200
    NvlsSync,           //!< flags of one chunk of NVLS inside a node
    NvlsNetworkSync,    //!< more with a network
    NvlsEfficiency,     //!< of NVLS's rate, over Hopper's
    CollNetEfficiency,  //!< of a head's port, what CollNet direct reaches
    KernelLaunch,       //!< what launching a collective keeps its process busy for, by GPU
    BlockLaunch,        //!< more by thread block with one process for all GPUs, to NCCL 2.18
    BlockLaunchSince19, //!< the same from NCCL 2.19 on
    IdleLaunch,         //!< until a kernel runs on an idle GPU
    ProxyPost,          //!< what posting a message keeps the process busy for
    ProxyLine,          //!< the same for polling the LL flags of 16 bytes
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

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NODE_COST_H
