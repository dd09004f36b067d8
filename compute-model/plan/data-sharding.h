// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_DATA_SHARDING_H
#define WEIR_COMPUTE_MODEL_PLAN_DATA_SHARDING_H

#include <cstdint>

namespace weir
{

/** What replicas of one model distribute among them instead of each holding all of it. */
enum class ShardedState : uint8_t
{
    None,
    Optimizer, //!< ZeRO-1: master weights and moments (Rajbhandari et al. 2020, 5.1)
    Gradients, //!< ZeRO-2: ... and gradients, reduce-scattered in every micro-batch
    Full       //!< ZeRO-3, FSDP: ... and weights, gathered unit by unit where they are used
};

/**
 * How replicas share a model's state out. With Full the model's layers are one unit each and
 * embedding, final norm and output layer together are the root unit (Zhao et al. 2023, PyTorch
 * FSDP, 3.3): a unit's weights are gathered before its forward pass, given up after it and gathered
 * again before its backward pass; the root unit's are kept in between.
 */
struct DataSharding
{
    ShardedState state{ShardedState::None};
    uint32_t ranks{0};    //!< neighbouring replicas that hold one copy together; more than one such
                          //!< group is hybrid sharding (Zhao et al. 2023, 3.2.2); 0: all of them
    bool reshard{true};   //!< Full: weights are given up after a forward pass
    uint32_t prefetch{1}; //!< Full: units whose weights are gathered ahead of the one at work
    bool everyPass{true}; //!< Full, Gradients: gradients are reduced after each micro-batch, else
                          //!< after the last one (no_sync), whole gradients being held until then
    bool scatter{true};   //!< Optimizer, Gradients: each rank gets its part of the gradients only
                          //!< (reduce-scatter), else all of them (all-reduce)
    bool overlapGather{false}; //!< Optimizer, Gradients: updated weights are gathered beside the
                               //!< next step's first forward pass (Megatron-LM's
                               //!< --overlap-param-gather), else behind the update
    bool perParameter{true};   //!< Full: tensors are copied between collective buffers and
                               //!< parameters (PyTorch's fully_shard); else they are views of one
                               //!< flat buffer (FullyShardedDataParallel)
};

/** How many kernels the operations between matrix products take. */
enum class KernelFusion : uint8_t
{
    Eager,   //!< one kernel or more for each PyTorch operation
    Kernels, //!< hand-written or scripted kernels for norm, rotary, activation, bias-dropout-add
             //!< (Megatron-LM, Transformer Engine)
    Compiled //!< torch.compile: as Kernels, residual additions inside norms, sums of biases inside
             //!< their neighbors; the CPU launches a graph's kernels without PyTorch's dispatcher
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_DATA_SHARDING_H
