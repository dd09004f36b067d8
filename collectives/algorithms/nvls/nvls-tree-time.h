// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_TIME_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_TIME_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/nvls/nvls-tree-call.h"
#include "fabric/units.h"

#include <vector>

namespace weir
{

/** What passes of some bytes per head and channel load. */
class NvlsTreeLegs
{
  public:
    /** @param calls like it that run at once. References must outlive it. */
    NvlsTreeLegs(const AlgorithmInputs& inputs, const NvlsTreeCall& tree, uint32_t calls = 1);

    /** On NVLink: reductions, stores or both. */
    std::vector<StreamLeg> Inside(double payload, bool reduction, bool store) const;

    /** On the network, both ways over all edges: a leg per head on channels that are alike. */
    std::vector<StreamLeg> Between(double payload) const;

    /** The same, up or down the edges to nodes of one depth in their trees, 1 below the roots. */
    std::vector<StreamLeg> Level(double payload, bool up, uint32_t depth) const;

    /** How long the slowest of some legs takes. */
    Time TimeOf(std::vector<StreamLeg> legs) const;

  private:
    StreamLeg LegOf(RouteId route, const NvlsTreePaths& paths, double payload) const;

    const AlgorithmInputs& m_in;
    const NvlsTreeCall& m_tree;
    uint32_t m_calls;
};

/**
 * From the first reduction's start to the last store's end of K = @p payload / @p first passes.
 *
 * A pass's reduction takes r, its store s, both at once b; each of their groups synchronises for t,
 * in which the other one has NVLink for itself. The first store starts when the first sum has been
 * up and down the tree, D = r + t + sum over levels (up + down). Until then only reductions run,
 * one each r + t, so k = min(K, D / (r + t)) of them are ahead of the stores. From then on a pass
 * is reduced and another one stored each p = max(b + t - (b / s - 1) t, r + t, s + t), and when all
 * are reduced the last k are stored, one each s + t:
 *
 *   D + (K - k) p + k (s + t)
 *
 * or, where a pass takes the network longer, q:  D + (K - 1) q + s + t. A node is a step higher in
 * one of the two trees than in the other, so that one half of a store comes a step down, d, before
 * the other, and all ends min(s / 2, d) sooner.
 *
 * @param calls like it that run at once, all of them in step
 */
Time NvlsTreeMoving(const AlgorithmInputs& inputs,
                    const NvlsTreeCall& tree,
                    double payload,
                    double first,
                    uint32_t calls = 1);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_TIME_H
