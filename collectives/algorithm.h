// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHM_H
#define WEIR_COLLECTIVES_ALGORITHM_H

#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/connection.h"
#include "collectives/nccl-constants.h"
#include "collectives/planner.h"
#include "collectives/schedule.h"
#include "fabric/path-table.h"

#include <cstdint>
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
    const NcclConstants& constants;
    PathTable& paths;
    Connector& connector;
};

/**
 * What a pipeline costs before all its hops are busy: its first slice crosses them one after the
 * other, and all but the slowest hop's time comes on top of streaming the whole message.
 */
struct Fill
{
    std::vector<PathId> hops;
    Bytes slice; //!< on the wire
    Rate cap;    //!< of one channel
};

/** What a call loads and how long its first byte is under way. */
struct StreamShape
{
    Time latency;                //!< base plus all hops on the slowest chunk's way
    std::vector<StreamLeg> legs; //!< equal bytes per unit of weight
    std::vector<Fill> fills;     //!< for pipelines, one per channel
};

/**
 * One way to run some operations. Each algorithm is one file that defines one of these, and a line
 * in the table of algorithm.cc; planner, engines and checks know no algorithm by name.
 */
struct CollectiveAlgorithm
{
    Algorithm algorithm;

    bool (*supports)(CollectiveOp op);

    /** Most channels it can use for a call. */
    uint32_t (*maxChannels)(const AlgorithmInputs& inputs);

    /** Protocol and channels as NCCL chooses where the call leaves them open. */
    void (*choose)(AlgorithmInputs& inputs);

    /** For StreamEngine and the closed form; called only when there is something to move. */
    StreamShape (*streams)(const AlgorithmInputs& inputs);

    /** For FlowEngine; called only when there is something to move. */
    Schedule (*schedule)(const AlgorithmInputs& inputs);
};

extern const CollectiveAlgorithm RING_ALGORITHM;           //!< ring.cc
extern const CollectiveAlgorithm RING_BROADCAST_ALGORITHM; //!< broadcast.cc
extern const CollectiveAlgorithm SEND_RECV_ALGORITHM;      //!< send-recv.cc

/**
 * The algorithm for @p call, the one it asks for or the first that supports it.
 * @throws std::invalid_argument when none does.
 */
const CollectiveAlgorithm& FindAlgorithm(const CollectiveCall& call);

/** Adds a channel to @p legs, merged with an equal one. */
void AddLeg(std::vector<StreamLeg>& legs, PathId path, Bytes bytes, Rate cap);

/**
 * What one channel moves at most over a hop, on the wire: what its thread block can copy, and under
 * LL and LL128 NCCL's own limits (LL: of all channels in use together; LL128: per channel of the
 * search graph, which several channels may share).
 */
Rate ChannelCap(const AlgorithmInputs& inputs);

/** Latency of one hop: NCCL's step latency with the wire's part replaced by the path's own. */
Time HopLatency(const NcclConstants& constants,
                const Communicator& communicator,
                Protocol protocol,
                const Connection& hop,
                const PathTable& paths);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHM_H
