// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_KERNEL_TIMES_H
#define WEIR_COLLECTIVES_NCCL_KERNEL_TIMES_H

#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/node-costs.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"

#include <cstdint>

namespace weir
{

/**
 * How long NCCL's kernels take, by what they run on, whatever the release: a call's start and end,
 * one step by kind of connection, what a thread block moves under LL. NcclConstants has what a
 * release believes, which decides what it chooses and nothing else.
 *
 * What was measured is in NodeCosts, with its sources; where nothing was, the values are those of
 * NCCL 2.30.7's own table, which NVIDIA measured on Hopper.
 */
class KernelTimes
{
  public:
    explicit KernelTimes(const NodeSpec& node);

    /**
     * What a call takes beside its steps: from the end of the kernel before until its first step,
     * and from its last step to its own end. @p inner is the kind of the slowest connection whose
     * far end the GPU stores to itself.
     */
    Time Call(Algorithm algorithm, Protocol protocol, ConnectionKind inner) const;

    /** One step: from a slice's last byte on the wire to its use at the receiver. */
    struct Step
    {
        Time fixed; //!< of one line, where lines count
        Time least; //!< of wire and this together: what less than a pass of the block takes
        Time lines; //!< more until the last of a whole pass's lines has come

        /**
         * What a step takes beside its wire / cap. A receiver waits for the last line of a pass,
         * whose delays differ: of many alike the longest grows by the logarithm of their number. A
         * pass that is not full takes as long as a full one, where another follows or came before:
         * fixed + lines log2(n) / log2(N) + (passes - 1) pass / cap, of n <= N = 512 lines.
         */
        Time Beside(Bytes wire, Rate cap) const;
    };

    /** Of a hop, wire included (ReferencePropagation is its wire's part). */
    Step Of(Algorithm algorithm, Protocol protocol, ConnectionKind kind) const;

    /** Payload that a channel's thread block moves under LL. */
    Rate LlBlockRate() const;

    /** As above under LL128, in a ring. */
    Rate Ll128BlockRate() const;

    /**
     * Payload that a tree's thread block moves up, and as much down at the same time, over several
     * nodes: a fourth of what NCCL's own model takes a channel of the search graph to move
     * (perChMaxTreeBws, under LL128 also perChMaxTreeLL128Bws), as every such channel becomes two
     * and a tree all-reduces half of what it moves. Plain trees on B200 bear it out: 16 channels
     * have 180 GB/s of all-reduced data on 2 nodes and 99 to 104 on 4 to 16, the tables give 171
     * and 96 (together-nccl-tests 6fd65d1, 34 GB). Infinite under LL, of which the tables say
     * nothing.
     */
    Rate TreeBlockRate(Protocol protocol, uint32_t nodes) const;

    /** What of the node all of this and messages come from. */
    const NodeCosts& Costs() const
    {
        return m_costs;
    }

  private:
    /** How much longer than Hopper's table has it barriers, fences and flags take. */
    double SimpleFactor() const;

    NcclConstants m_newest;
    NodeCosts m_costs;
};

/** Of the connections inside nodes, the kind that NCCL's graph has: the worst. */
ConnectionKind InnerKind(const Communicator& communicator);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_KERNEL_TIMES_H
