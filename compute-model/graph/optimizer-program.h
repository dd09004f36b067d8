// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_OPTIMIZER_PROGRAM_H
#define WEIR_COMPUTE_MODEL_GRAPH_OPTIMIZER_PROGRAM_H

#include "compute-model/graph/gradient-buckets.h"
#include "compute-model/graph/program-writer.h"
#include "compute-model/graph/stage-program.h"
#include "compute-model/plan/parallel-plan.h"

#include <map>
#include <vector>

namespace weir
{

/**
 * Writes how the stages of a pipeline come to know the gradient norm without waiting for all others
 * (Qi et al. 2023, arXiv 2401.10241, section 4): before its update a stage gets what the stages
 * before it have summed, adds its own and passes it on; while the next step warms up the whole sum
 * comes back from the last stage to the first, and each stage validates its update by it. That it
 * always turns out right, so that nothing is rolled back, is assumed, as is a norm below the limit
 * that gradients are clipped at.
 */
class PostValidation
{
  public:
    PostValidation(const StageSource& source, KernelTable& kernels, ProgramWriter& writer);

    /** A stage's sum is complete and goes on to the next. */
    void PassOn();

    /** A step begins, in which the whole sum of the one before comes back. */
    void PassBack();

  private:
    CommunicationRequest Message(StepOpKind kind, StreamKind stream, GroupSlot slot);

    const StageSource& m_source;
    KernelTable& m_kernels;
    ProgramWriter& m_writer;
};

/**
 * Writes what a stage does with its gradients, as Megatron-LM's mixed-precision optimizer does
 * (megatron/core/optimizer): reduction over the replicas, agreement on the gradient norm, Adam on
 * fp32 state, the update cast back to the weights' format; with the distributed optimizer
 * (ZeRO-1) each replica updates its part of the weights, which are then gathered.
 */
class OptimizerWriter : public GradientSink
{
  public:
    OptimizerWriter(const StageSource& source, KernelTable& kernels, ProgramWriter& writer);

    /**
     * Clears gradients that passes add to whole at the start of a step, and has the one before
     * validated.
     */
    void ZeroGradients();

    /** Whether gradients are reduced in every micro-batch, not only in the last one. */
    bool ReducesEveryPass() const;

    /** Issues the reduction of a bucket of gradients when @p piece has filled it. */
    bool OnReady(const GradientPiece& piece) override;

    /** Issues those of the buckets that are not full, when a model chunk has no more gradients. */
    void ReduceRest();

    /**
     * A backward pass over a model chunk is over. Where one of several reduces, its reductions are
     * waited for, and the parts that they leave are added to those of the passes before @p isFirst.
     */
    void EndPass(bool isFirst);

    /** Issues every reduction that is left, in Megatron's order, and waits for all of them. */
    void ReduceGradients();

    /** Gradient norm, Adam, cast back, and with ZeRO-1 the gathering of the weights. */
    void Update();

  private:
    void UpdateAtOnce();
    void UpdateInTurn();
    void OverParameters(const char* name,
                        MemoryKernel kernel,
                        double parameters,
                        double bytesPerParameter);
    void FlushKernels(const char* label);
    void Reduce(const GradientBucket& bucket);
    void AddPart(const GradientBucket& bucket);
    CommunicationRequest Reduction(Bytes bytes, const char* label, bool ofExperts = false);
    void ReduceLate(double parameters, const char* label, bool ofExperts);
    void GatherWeights(double parameters, const char* label, bool ofExperts);
    bool Scatters(bool ofExperts) const;
    bool ScattersInCopies(bool ofExperts) const;
    CommunicationRequest AmongCopies(Bytes bytes, bool ofExperts);
    void ReduceWholeParameters();
    void ReduceLate();
    void ReduceTiedEmbedding();
    double KeptAfterReduction(double parameters) const;
    void SumOverExperts(const char* label);
    void AgreeOn(const char* label);
    void AgreeOnNorm();

    const StageSource& m_source;
    const ParallelPlan& m_plan;
    KernelTable& m_kernels;
    ProgramWriter& m_writer;
    double m_parameters; //!< that a rank of the stage holds, experts left out
    double m_experts;    //!< of experts, that it holds
    double m_updated;    //!< of them, that it updates itself
    PostValidation m_validation;
    GradientPacker m_packer;
    std::vector<StepDependency> m_early;       //!< reductions issued beside backward passes
    std::vector<GradientBucket> m_reduced;     //!< whose parts are not yet added
    std::map<double, SegmentSequence> m_added; //!< the addition, by parameters of a part
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_OPTIMIZER_PROGRAM_H
