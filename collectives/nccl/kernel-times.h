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
 * How long NCCL's kernels take on given hardware, independent of the release: start and end of a
 * call, one step by kind of connection, and the rate of a tree's thread block. NcclConstants has
 * the model of a release, which decides its choices and nothing else.
 *
 * Measured values are in NodeCosts, with their sources. Where nothing was measured, the values are
 * those of NCCL 2.30.7's own table, which NVIDIA measured on Hopper.
 */
class KernelTimes
{
  public:
    explicit KernelTimes(const NodeSpec& node);

    /**
     * Time of a call besides its steps: from the end of the previous kernel to its first step, and
     * from its last step to its own end. @p inner is the kind of the slowest connection inside a
     * node whose far end the GPU itself stores to.
     */
    Time Call(Algorithm algorithm, Protocol protocol, ConnectionKind inner) const;

    /** One step: from a slice's last byte on the wire to its use at the receiver. */
    struct Step
    {
        Time fixed;     //!< with one flag word, where flag words count
        Time minTotal;  //!< minimum of wire and this in total: the time of less than a full pass of
                        //!< the block
        Time flagWords; //!< additional time until the last flag word of a full pass has arrived

        /**
         * Time of a step besides its wire / cap. A receiver waits for the last flag word of a pass,
         * and their delays vary: the largest of many such delays grows with the logarithm of their
         * number. A partial pass takes as long as a full one if another pass follows or precedes
         * it. In total a step takes fixed + flagWords log2(n) / log2(N) + (passes - 1) pass / cap,
         * for n <= N = 512 flag words of 16 bytes.
         */
        Time Beside(Bytes wire, Rate cap) const;
    };

    /** The step of a hop, with its wire (whose part is ReferencePropagation). */
    Step Of(Algorithm algorithm, Protocol protocol, ConnectionKind kind) const;

    /**
     * Rate of payload of a tree's thread block up, and equally down at the same time, over several
     * nodes: a fourth of what NCCL's own model assumes for a channel of the search graph
     * (perChMaxTreeBws, under LL128 also perChMaxTreeLL128Bws), since every such channel becomes
     * two and a tree all-reduces half of what it moves. Plain trees on B200 confirm it: 16 channels
     * reach 180 GB/s of all-reduced data on 2 nodes and 99 to 104 on 4 to 16, the tables give 171
     * and 96 (together-nccl-tests 6fd65d1, 34 GB). Infinite under LL, which the tables do not
     * cover.
     */
    Rate TreeBlockRate(Protocol protocol, uint32_t nodes) const;

    /** The node's costs, for these times and for messages. */
    const NodeCosts& Costs() const
    {
        return m_costs;
    }

  private:
    NcclConstants m_newest;
    NodeCosts m_costs;
};

/** The kind of connections inside nodes in NCCL's graph: the slowest one. */
ConnectionKind InnerKind(const Communicator& communicator);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_KERNEL_TIMES_H
