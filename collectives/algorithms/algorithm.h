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
#include <string>
#include <vector>

namespace weir
{

/** Everything an algorithm may look at; protocol and channels are decided by then. */
struct AlgorithmInputs
{
    const Communicator& communicator;
    const CollectiveCall& call;
    Protocol protocol{Protocol::Simple};
    uint32_t channels{1};
    const NcclConstants& constants; //!< what NCCL believes, and chooses by
    const KernelTimes& times;       //!< what its kernels take
    Routing& routing;
    Connector& connector;
    const NcclSettings& settings;
    const Traffic* traffic{nullptr}; //!< of the call; null: all parts are equal
    const std::vector<ImportedProgram>* programs{nullptr}; //!< known to the planner
    uint32_t senders{1};                                   //!< as CollectiveAlgorithm::senders says
};

/** What a call loads and how long its first byte is under way. */
struct StreamShape
{
    Time latency;                    //!< base plus all hops on the slowest chunk's path
    Time moving;                     //!< at least, from the first byte on
    Time movingBeside;               //!< as above, beside another call like it
    std::vector<StreamLeg> legs;     //!< equal bytes per unit of weight
    std::vector<RouteId> path;       //!< of a chunk, hop after hop, where those of one channel
                                     //!< fill the hops one after the other
    double chunks{1};                //!< of a channel that take @ref path
    std::vector<Pipeline> pipelines; //!< what fills up before all hops are busy, if anything does
    std::vector<RingRounds> rings;   //!< what goes round, one per distinct channel
    std::optional<Schedule> steps{}; //!< what goes in any other order, for IdlePlayback
    uint32_t levels{0};              //!< that passes fill one after the other
    bool isInStep{false};            //!< closed form of channels that flow lets get out of step
    uint32_t blocks{0};              //!< of a rank's kernel; 0: one per channel
    std::optional<BackToBackChains> row; //!< set: calls that follow each other overlap so
};

/** Channels of a communicator. */
enum class ChannelGraph : uint8_t
{
    None,
    Rings,
    Trees
};

struct CallDescription;

/**
 * One way to run some operations. Each algorithm is one file that defines one of these, and a line
 * in the table of algorithm.cc; planner and engines know no algorithm by name.
 */
struct CollectiveAlgorithm
{
    Algorithm algorithm;

    /** Whether this group can run it: its graphs are found by then. */
    bool (*supports)(CollectiveOp op, const Communicator& communicator);

    /** Most channels it can use for a call. */
    uint32_t (*maxChannels)(const AlgorithmInputs& inputs);

    /**
     * The call, of which all fidelities follow; called only when there is something to move. Null:
     * @ref streams and @ref schedule say what it is.
     */
    CallDescription (*describe)(const AlgorithmInputs& inputs);

    /** Which of the communicator's channels it looks at: these are connected before it is asked. */
    ChannelGraph graph{ChannelGraph::None};

    /**
     * Over how many network connections one process sends at once, at most, where that decides
     * what a message costs (MessageCost::Latency). Null: over one.
     */
    uint32_t (*senders)(const AlgorithmInputs& inputs){nullptr};

    /** Whether KernelTimes has its kernels; else NCCL's own table says what they take. */
    bool hasKernelTimes{false};

    /**
     * For StreamEngine and the closed form, in the place of PipelinesOf(describe): a closed form of
     * its own, which its test compares with flow.
     */
    StreamShape (*streams)(const AlgorithmInputs& inputs){nullptr};

    /** For FlowEngine, in the place of ScheduleOf(describe). */
    Schedule (*schedule)(const AlgorithmInputs& inputs){nullptr};

    /**
     * Sets protocol and channels, overrides included, of an algorithm that NCCL's cost model does
     * not know (send and receive, imported schedules). Null: NCCL's model decides, in
     * nccl-choice.cc.
     */
    void (*choose)(AlgorithmInputs& inputs){nullptr};
};

/** What StreamEngine and the closed form need of a call. */
StreamShape StreamsOf(const CollectiveAlgorithm& algorithm, const AlgorithmInputs& inputs);

/** What FlowEngine plays of it. */
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
extern const CollectiveAlgorithm IMPORTED_ALGORITHM;       //!< imported.cc
extern const CollectiveAlgorithm DIMENSION_WISE_ALGORITHM; //!< dimension-wise.cc

/** The first of that name. */
const CollectiveAlgorithm& AlgorithmOf(Algorithm name);

/**
 * Those that can run @p op on @p communicator, or the one of them that is @p wanted, in the table's
 * order.
 * @throws std::invalid_argument when there is none.
 */
std::vector<const CollectiveAlgorithm*> FindAlgorithms(CollectiveOp op,
                                                       const Communicator& communicator,
                                                       std::optional<Algorithm> wanted);

/** Adds a leg, or counts its channels to one over the same links. */
void AddLeg(std::vector<StreamLeg>& legs, const StreamLeg& leg, const Routing& routing);

/**
 * What one channel moves at most over a hop, on the wire: what its thread block can copy, and under
 * LL and LL128 what its block's threads poll and store. Over several nodes also what its queue
 * pairs move.
 */
Rate ChannelCap(const AlgorithmInputs& inputs);

/** The same where under Simple a block can move @p block instead. */
Rate ChannelCap(const AlgorithmInputs& inputs, Rate block);

/**
 * What slices keep their blocks busy for: measured times under Simple, nothing under LL and LL128,
 * where ChannelCap has it. For schedules of rings and of what is written down block by block;
 * algorithms whose closed form is a pipeline have it in ChannelCap alone.
 */
BlockTimes BlockTimesOf(const AlgorithmInputs& inputs);

/**
 * The cap of a schedule with BlockTimesOf: as ChannelCap, but a slice is on the wire as fast as a
 * block can store; what else the block does with it is in the block times.
 */
Rate SliceCap(const AlgorithmInputs& inputs);

/**
 * What a call takes beside its steps: as KernelTimes has it, for others than ring, tree, send and
 * receive as NCCL's table.
 */
Time CallLatency(const AlgorithmInputs& inputs, Algorithm algorithm);

/**
 * Latency of one hop, from the last byte of a slice of @p slice bytes on the wire to its use: as
 * KernelTimes or NCCL's table has it with the wire's part replaced by the path's own; over a
 * network with what its message costs beside that.
 */
Time HopLatency(const AlgorithmInputs& inputs,
                Algorithm algorithm,
                const Connection& hop,
                Bytes slice);

/** All ring channels of the communicator, as most algorithms' maxChannels. */
uint32_t RingMaxChannels(const AlgorithmInputs& inputs);

/**
 * Over how many rings the process that serves most sends over the network at once. Only under LL
 * messages lie in the hosts' memory, where that counts.
 */
uint32_t RingSenders(const AlgorithmInputs& inputs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_ALGORITHM_H
