// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_ALGORITHM_H
#define WEIR_COLLECTIVES_ALGORITHMS_ALGORITHM_H

#include "collectives/algorithms/imported/imported-program.h"
#include "collectives/algorithms/ring/back-to-back-chains.h"
#include "collectives/algorithms/ring/ring-time.h"
#include "collectives/algorithms/traffic.h"
#include "collectives/channels/connection.h"
#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/engines/pipeline-time.h"
#include "collectives/nccl/kernel-times.h"
#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/nccl-settings.h"
#include "collectives/planner.h"
#include "collectives/schedule/schedule.h"
#include "fabric/routing/routing.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weir
{

/** The inputs of an algorithm; protocol and channels are decided before they are used. */
struct AlgorithmInputs
{
    const Communicator& communicator;
    const CollectiveCall& call;
    Protocol protocol{Protocol::Simple};
    uint32_t channels{1};
    const NcclConstants& constants; //!< NCCL's own model, by which it chooses
    const KernelTimes& times;       //!< times of NCCL's kernels
    Routing& routing;
    Connector& connector;
    const NcclSettings& settings;
    const Traffic* traffic{nullptr}; //!< traffic matrix of the call; null: all parts are equal
    const std::vector<ImportedProgram>* programs{nullptr}; //!< programs known to the planner
};

/** The load of a call for StreamEngine and the closed form, and the latency of its first byte. */
struct StreamShape
{
    Time latency;                //!< base latency plus all hops on the path of the slowest chunk
    Time moving;                 //!< minimum transfer time, from the first byte on
    Time movingConcurrent;       //!< as above, concurrently with a second, equal call
    std::vector<StreamLeg> legs; //!< equal bytes per unit of weight
    double activeShare{1};       //!< share of the call's time that each leg sends, of channels that
                                 //!< send one part after another
    std::vector<RouteId> path;   //!< hops that each chunk of a channel crosses one after the other,
                                 //!< chunk behind chunk; empty: another order
    double chunks{1};            //!< of a channel over @ref path
    std::vector<Pipeline> pipelines; //!< pipelines that fill before all hops are busy, if any
    std::vector<RingRounds> rings;   //!< rounds of ring algorithms, one entry per distinct channel
    std::optional<Schedule> steps{}; //!< steps in any other order, for IdlePlayback
    uint32_t levels{0};              //!< number of levels of a pipeline that passes fill
    bool isInLockstep{false};        //!< channels in lockstep, which in fidelity flow drift apart
    uint32_t blocks{0};              //!< thread blocks of a rank's kernel; 0: one per channel
    std::optional<BackToBackChains> backToBack; //!< set: how back-to-back calls overlap
};

/** The channels of a communicator that an algorithm uses. */
enum class ChannelGraph : uint8_t
{
    None,
    Rings,
    Trees
};

struct CallDescription;

/**
 * An algorithm for some operations. Each algorithm is one file that defines one of these, and a
 * line in the table of algorithm.cc; planner and engines have no code for specific algorithms.
 */
struct CollectiveAlgorithm
{
    Algorithm algorithm;

    /** Whether this group can run it; the group's graphs are found before. */
    bool (*supports)(CollectiveOp op, const Communicator& communicator);

    /** The maximum number of channels for a call. */
    uint32_t (*maxChannels)(const AlgorithmInputs& inputs);

    /**
     * The description of a call from which all fidelities follow; called only when there are bytes
     * to move.
     */
    CallDescription (*describe)(const AlgorithmInputs& inputs);

    /**
     * Overrides PipelinesOf(describe) for StreamEngine and the closed form: a closed form of its
     * own, which its test compares with fidelity flow.
     */
    StreamShape (*streams)(const AlgorithmInputs& inputs){nullptr};

    /** The communicator's channels that it uses, which are connected before it is called. */
    ChannelGraph graph{ChannelGraph::None};

    /** Whether KernelTimes covers its kernels; otherwise NCCL's own table has their times. */
    bool hasKernelTimes{false};

    /**
     * Sets protocol and channels, overrides included, of an algorithm outside NCCL's cost model
     * (send and receive, imported schedules). Null: NCCL's model decides, in nccl-tuning.cc.
     */
    void (*choose)(AlgorithmInputs& inputs){nullptr};

    /**
     * Whether NCCL runs it for a call, whatever its cost model says of others. Null: never.
     */
    bool (*isPreferred)(const AlgorithmInputs& inputs){nullptr};

    /**
     * Whether release and wiring allow it for a call that it supports; else choose throws. Null:
     * they do.
     */
    bool (*isPossible)(const AlgorithmInputs& inputs){nullptr};
};

/** The call for StreamEngine and the closed form. */
StreamShape StreamsOf(const CollectiveAlgorithm& algorithm, const AlgorithmInputs& inputs);

/** The call for FlowEngine. */
Schedule ScheduleOf(const CollectiveAlgorithm& algorithm, const AlgorithmInputs& inputs);

extern const CollectiveAlgorithm RING_ALGORITHM;           //!< ring.cc
extern const CollectiveAlgorithm RING_PIPELINE_ALGORITHM;  //!< ring-pipeline.cc
extern const CollectiveAlgorithm TREE_ALGORITHM;           //!< tree.cc
extern const CollectiveAlgorithm PAT_ALGORITHM;            //!< pat.cc
extern const CollectiveAlgorithm POINT_TO_POINT_ALGORITHM; //!< point-to-point.cc
extern const CollectiveAlgorithm NVLS_ALGORITHM;           //!< nvls.cc
extern const CollectiveAlgorithm NVLS_NETWORK_ALGORITHM;   //!< nvls-network.cc
extern const CollectiveAlgorithm NVLS_TREE_ALGORITHM;      //!< nvls-tree.cc
extern const CollectiveAlgorithm COLLNET_DIRECT_ALGORITHM; //!< collnet-direct.cc
extern const CollectiveAlgorithm COLLNET_CHAIN_ALGORITHM;  //!< collnet-chain.cc
extern const CollectiveAlgorithm SYMMETRIC_ALGORITHM;      //!< symmetric.cc
extern const CollectiveAlgorithm IMPORTED_ALGORITHM;       //!< imported.cc
extern const CollectiveAlgorithm DIMENSION_WISE_ALGORITHM; //!< dimension-wise.cc

/**
 * The algorithms that can run a call, in the table's order: only the one that the call asks for, or
 * else only one that NCCL prefers, if there is one.
 * @param inputs still without protocol and channels
 * @throws std::invalid_argument when there is none.
 */
std::vector<const CollectiveAlgorithm*> FindAlgorithms(const AlgorithmInputs& inputs);

/** Adds a leg, or merges its channels with a leg over the same links. */
void AddLeg(std::vector<StreamLeg>& legs, const StreamLeg& leg, const Routing& routing);

/**
 * Upper bound of one channel's rate over a hop, on the wire: the copy rate of its thread block, and
 * under LL and LL128 the rate at which its block's threads poll and store. Over several nodes also
 * the rate of its queue pairs.
 */
Rate ChannelCap(const AlgorithmInputs& inputs);

/** As above, with @p block as the thread block's rate under Simple. */
Rate ChannelCap(const AlgorithmInputs& inputs, Rate block);

/**
 * How long slices keep their blocks busy: measured times under Simple, nothing under LL and LL128,
 * where ChannelCap covers it. For rings and for schedules written block by block; algorithms whose
 * closed form is a pipeline use ChannelCap only.
 */
BlockTimes BlockTimesOf(const AlgorithmInputs& inputs);

/**
 * The cap of a schedule with BlockTimesOf: as ChannelCap, except that a slice is on the wire at the
 * rate at which a block can store; the block times cover the block's other work.
 */
Rate SliceCap(const AlgorithmInputs& inputs);

/**
 * Time of a call besides its steps: from KernelTimes for algorithms with kernel times, else from
 * NCCL's table.
 */
Time CallLatency(const AlgorithmInputs& inputs, Algorithm algorithm);

/**
 * Latency of one hop, from the last byte of a slice of @p slice bytes on the wire to its use: that
 * of KernelTimes or NCCL's table, with the propagation part replaced by the path's own latency, and
 * over a network plus the cost of its message.
 * @param senders network connections on which its process sends concurrently
 */
Time HopLatency(const AlgorithmInputs& inputs,
                Algorithm algorithm,
                const Connection& hop,
                Bytes slice,
                uint32_t senders = 1);

/** All ring channels of the communicator: maxChannels of most algorithms. */
uint32_t RingMaxChannels(const AlgorithmInputs& inputs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_ALGORITHM_H
