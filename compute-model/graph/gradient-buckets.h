// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_GRADIENT_BUCKETS_H
#define WEIR_COMPUTE_MODEL_GRAPH_GRADIENT_BUCKETS_H

#include "fabric/units.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weir
{

/** Gradients that become final at the same time. */
struct GradientPiece
{
    uint32_t position{0}; //!< of the compute operation after which they are final
    Bytes bytes;
    bool ofExperts{false}; //!< of experts' weights, which have other replicas
};

/** Gradients that are reduced in one call, once the last of them is final. */
struct GradientBucket
{
    uint32_t position{0}; //!< of its last piece
    Bytes bytes;
    bool ofExperts{false};
};

/** Receives gradients as the backward pass makes them final. */
class GradientSink
{
  public:
    virtual ~GradientSink() = default;

    /**
     * @return whether a communication is issued that waits for exactly the kernels up to the
     *         piece's position.
     */
    virtual bool OnReady(const GradientPiece& piece) = 0;
};

/**
 * Packs gradients into buckets in the order in which the backward pass makes them final. A bucket
 * is closed once it holds @p bucket bytes or more (pieces are not split), as in PyTorch's and
 * Megatron-LM's data-parallel wrappers. Gradients of experts have buckets of their own.
 */
class GradientPacker
{
  public:
    explicit GradientPacker(Bytes bucket);

    /** @return the bucket that @p piece has filled, if any. */
    std::optional<GradientBucket> Add(const GradientPiece& piece);

    /** Closes and returns the buckets that are not full. */
    std::vector<GradientBucket> TakeRest();

  private:
    Bytes m_bucket;
    GradientBucket m_dense{};
    GradientBucket m_experts{};
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_GRADIENT_BUCKETS_H
