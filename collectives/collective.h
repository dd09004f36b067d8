// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_COLLECTIVE_H
#define WEIR_COLLECTIVES_COLLECTIVE_H

#include "fabric/ids.h"
#include "fabric/units.h"

#include <cstdint>
#include <optional>

namespace weir
{

/** The operation of a collective call. */
enum class CollectiveOp : uint8_t
{
    AllReduce,
    AllGather,
    ReduceScatter,
    Broadcast,
    Reduce,
    AllToAll, //!< every rank sends every rank a part: equal parts, or those of
              //!< CollectiveCall::traffic
    Gather,   //!< every rank sends its part to the root
    Scatter,  //!< the root sends every rank its part
    SendRecv, //!< every rank sends to the next rank and receives from the previous one
    Send      //!< the first rank of the group sends to the second
};

constexpr CollectiveOp LAST_COLLECTIVE_OP = CollectiveOp::Send;

/** The shape of the schedule. */
enum class Algorithm : uint8_t
{
    Ring,
    Tree,          //!< double binary tree between nodes, chain inside
    CollNetDirect, //!< reduction in the network's switches (SHARP), all GPUs of a node at once
    CollNetChain,  //!< reduction in the network's switches, chain inside a node
    Nvls,          //!< reduction and multicast in the NVSwitches
    NvlsTree,      //!< NVLS inside nodes, double binary trees between them
    Pat,           //!< parallel aggregated trees: all-gather and reduce-scatter
    PointToPoint,  //!< sends and receives, grouped
    Symmetric,     //!< loads and stores in the symmetric memory of an NVLink domain
    Imported,      //!< read from an MSCCL file
    DimensionWise  //!< one network dimension after the other
};

constexpr Algorithm LAST_ALGORITHM = Algorithm::DimensionWise;

/**
 * NCCL's protocols synchronize a hop by a flag in every 8 bytes (LL), in every 128 bytes (LL128),
 * or by counters (Simple).
 */
enum class Protocol : uint8_t
{
    Ll,
    Ll128,
    Simple
};

/**
 * Whether NCCL runs the algorithm with ordinary buffers. The others run only where a call's
 * overrides ask for them, or with symmetric memory.
 */
constexpr bool
RunsByDefault(Algorithm algorithm)
{
    return algorithm < Algorithm::Symmetric;
}

/** Names as on the command line and in results: "all-reduce", "ring", "ll128". */
const char* ToString(CollectiveOp op);
const char* ToString(Algorithm algorithm);
const char* ToString(Protocol protocol);

/** What the caller fixes. Fields left empty are chosen as NCCL would. */
struct CollectiveOverrides
{
    std::optional<Algorithm> algorithm;
    std::optional<Protocol> protocol;
    std::optional<uint32_t> channels;

    friend bool operator==(const CollectiveOverrides& a, const CollectiveOverrides& b)
    {
        return a.algorithm == b.algorithm && a.protocol == b.protocol && a.channels == b.channels;
    }
};

using CommunicatorId = Id<struct CommunicatorTag>; //!< a group of GPUs known to a Planner
using TrafficId = Id<struct TrafficTag>; //!< an all-to-all traffic matrix known to a Planner

/**
 * The largest call, and row of a traffic matrix: sizes derived from it, at most 16 times as large
 * (LL128), fit 64 bits.
 */
constexpr Bytes MAX_CALL_BYTES{int64_t{1} << 58};

/**
 * One collective call. Sizes follow nccl-tests: for all-gather, reduce-scatter, gather and scatter
 * @ref bytes is the large buffer (ranks times the per-rank part), for all-to-all what each rank
 * sends to all ranks in total (itself included), for the others the buffer of each rank.
 */
struct CollectiveCall
{
    CommunicatorId communicator;
    CollectiveOp op{CollectiveOp::AllReduce};
    Bytes bytes;
    uint32_t root{0};  //!< group rank, for broadcast, reduce, gather and scatter
    TrafficId traffic; //!< all-to-all with unequal parts (all-to-allv); invalid: equal parts
    CollectiveOverrides overrides;

    friend bool operator==(const CollectiveCall& a, const CollectiveCall& b)
    {
        return a.communicator == b.communicator && a.op == b.op && a.bytes == b.bytes &&
               a.root == b.root && a.traffic == b.traffic && a.overrides == b.overrides;
    }
};

/**
 * nccl-tests' bus bandwidth over algorithm bandwidth: 2(n-1)/n for all-reduce, (n-1)/n for
 * all-gather, reduce-scatter, all-to-all, gather and scatter, 1 for the others.
 */
double BusBandwidthFactor(CollectiveOp op, uint32_t ranks);

} // namespace weir

#endif // WEIR_COLLECTIVES_COLLECTIVE_H
