// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_OPTIMIZER_PROGRAM_H
#define WEIR_COMPUTE_MODEL_GRAPH_OPTIMIZER_PROGRAM_H

#include "compute-model/graph/gradient-buckets.h"
#include "compute-model/graph/program-writer.h"
#include "compute-model/graph/stage-program.h"
#include "compute-model/plan/parallel-plan.h"
#include "compute-model/plan/shard-units.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace weir
{

/**
 * Writes the reduction of a stage's gradients and its optimizer, as in Megatron-LM's
 * mixed-precision optimizer (megatron/core/optimizer): reduction over the replicas, agreement on
 * the gradient norm, Adam on fp32 state, cast of the update to the weights' precision. With the
 * distributed optimizer (ZeRO-1) each replica updates its part of the weights, which are then
 * gathered.
 */
class OptimizerWriter : public GradientBuckets
{
  public:
    OptimizerWriter(const StageSource& source, KernelTable& kernels, ProgramWriter& writer);

    /**
     * Starts a step: clears the gradients that passes add to as a whole and, with postValidation,
     * validates the step before.
     */
    void ZeroGradients();

    /** Whether gradients are reduced in every micro-batch, not only in the last one. */
    bool ReducesEveryPass() const;

    /**
     * Ends a backward pass over a model chunk. Where one of several passes reduces, this waits for
     * its reductions and adds the reduced parts to those of earlier passes.
     * @param isFirst there are no earlier passes
     */
    void EndPass(bool isFirst);

    /** Issues all remaining reductions, in Megatron-LM's order, and waits for them. */
    void ReduceGradients();

    /** Gradient norm, Adam, cast back, and with ZeRO-1 the all-gather of the weights. */
    void Update();

  private:
    void UpdateFused();
    void UpdateUnfused();
    void OverParameters(const char* name,
                        MemoryKernel kernel,
                        double parameters,
                        double bytesPerParameter);
    void Reduce(const Gradients& bucket) override;
    void AddPart(const Gradients& bucket);
    CommunicationRequest Reduction(const RankWeights& weights,
                                   Bytes bytes,
                                   const std::string& label);
    void GatherWeights(const RankWeights& weights);
    bool Scatters(const RankWeights& weights) const;
    bool ScattersInCopies(const RankWeights& weights) const;
    CommunicationRequest AmongCopies(const RankWeights& weights, Bytes bytes);
    void ReduceWholeParameters();
    void ReduceLate();
    void ReduceTiedEmbedding();
    double KeptAfterReduction(double parameters) const;
    void SumOverExperts(const char* label);
    void AgreeOn(const char* label);
    void AgreeOnNorm();
    CommunicationRequest NormMessage(const StageTransfer& transfer);
    void PassNormOn();
    void PassNormBack();

    const StageSource& m_source;
    const ParallelPlan& m_plan;
    KernelTable& m_kernels;
    ProgramWriter& m_writer;
    std::array<RankWeights, 2> m_weights; //!< of a rank of the stage: dense, and its experts
    const RankWeights& m_dense{m_weights[0]};
    const RankWeights& m_experts{m_weights[1]};
    double m_updated;                          //!< parameters of both that the rank updates itself
    std::vector<StepDependency> m_early;       //!< reductions that overlap backward passes
    std::vector<Gradients> m_reduced;          //!< reduced buckets whose parts are not yet added
    std::map<double, SegmentSequence> m_added; //!< addition of a part, by parameters of the part
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_OPTIMIZER_PROGRAM_H
