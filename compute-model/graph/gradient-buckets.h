// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_GRADIENT_BUCKETS_H
#define WEIR_COMPUTE_MODEL_GRAPH_GRADIENT_BUCKETS_H

#include "fabric/units.h"

#include <array>
#include <cstdint>

namespace weir
{

/** Gradients that become final, or are reduced, at the same time. */
struct Gradients
{
    uint32_t position{0}; //!< of the compute operation after which they are final
    Bytes bytes;
    bool ofExperts{false}; //!< of experts' weights, which have other replicas
};

/**
 * Packs gradients into buckets in the order in which the backward pass makes them final, and
 * reduces each bucket in one call. A bucket is closed once it holds @p bucket bytes or more (pieces
 * are not split), as in PyTorch's and Megatron-LM's data-parallel wrappers. Gradients of experts
 * have buckets of their own.
 */
class GradientBuckets
{
  public:
    explicit GradientBuckets(Bytes bucket)
        : m_bucket(bucket)
    {
        m_open[true].ofExperts = true;
    }

    virtual ~GradientBuckets() = default;

    /**
     * Adds gradients that are final, and reduces the bucket that they fill, if any.
     * @return whether a communication is issued that waits for exactly the kernels up to their
     *         position.
     */
    bool Add(const Gradients& piece)
    {
        Gradients& mine = m_open[piece.ofExperts];
        mine.bytes += piece.bytes;
        mine.position = piece.position;
        const bool isFull = mine.bytes >= m_bucket;
        if (isFull)
        {
            Close(mine);
        }
        return isFull;
    }

    /** Reduces the buckets that are not full, when a model chunk has no more gradients. */
    void ReduceRest()
    {
        for (Gradients& last : m_open)
        {
            if (last.bytes > Bytes())
            {
                Close(last);
            }
        }
    }

  private:
    /** Issues the reduction of @p bucket, whose position is that of its last piece. */
    virtual void Reduce(const Gradients& bucket) = 0;

    void Close(Gradients& bucket)
    {
        Reduce(bucket);
        bucket.bytes = Bytes();
    }

    Bytes m_bucket;
    std::array<Gradients, 2> m_open{}; //!< of dense weights, of experts
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_GRADIENT_BUCKETS_H
