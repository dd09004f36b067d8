// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/stage-program.h"

#include "compute-model/graph/optimizer-program.h"
#include "compute-model/graph/program-writer.h"
#include "compute-model/graph/unit-collectives.h"
#include "compute-model/plan/pipeline-schedule.h"
#include "compute-model/plan/rank-shape.h"
#include "compute-model/plan/shard-units.h"
#include "compute-model/plan/stage-layers.h"

#include <optional>
#include <vector>

namespace weir
{

namespace
{

/** Writes the passes of one stage. */
class StageWriter
{
  public:
    StageWriter(const StageSource& source, KernelTable& kernels, StepProgram& program)
        : m_source(source),
          m_plan(source.plan),
          m_shape(source.model, source.plan),
          m_kernels(kernels),
          m_writer(kernels, program, source.plan.host),
          m_passesLeft(m_plan.virtualStages, m_plan.MicroBatches())
    {
    }

    void Write()
    {
        OptimizerWriter optimizer(m_source, m_kernels, m_writer);
        optimizer.ZeroGradients();
        PipelinePosition position = PositionOf(m_plan, m_source.stage);
        position.times = TimesOf(m_source.segments, HasMostlyExperts());
        const std::vector<PipelineStep> schedule = PipelineSchedule(position);
        if (UnitGathers::AreIn(m_plan))
        {
            m_gathers.emplace(m_source,
                              UnitUses(m_source.model, m_plan, m_source.stage, schedule),
                              m_kernels,
                              m_writer);
        }
        if (m_plan.Sharded() == ShardedState::Full)
        {
            m_reductions.emplace(m_source, m_kernels, m_writer);
        }
        for (const PipelineStep& step : schedule)
        {
            SynchronizeBefore(step);
            switch (step.kind)
            {
            case PipelineStepKind::Forward:
                Forward(step);
                break;
            case PipelineStepKind::Backward:
                Backward(step, optimizer);
                break;
            case PipelineStepKind::BackwardInput:
                BackwardInput(step, optimizer);
                break;
            case PipelineStepKind::BackwardWeights:
                BackwardWeights(step, optimizer);
                break;
            case PipelineStepKind::Exchange:
                Exchange(step);
                break;
            }
        }
        m_writer.SetLayer(0, StepOp::NO_LAYER);
        if (m_plan.host.syncPasses)
        {
            m_writer.SynchronizeHost();
        }
        optimizer.ReduceGradients();
        optimizer.Update();
    }

  private:
    bool HasEmbedding(const PipelineStep& step) const
    {
        return m_source.stage == 0 && step.chunk == 0;
    }

    bool HasOutput(const PipelineStep& step) const
    {
        return m_source.stage == m_plan.pipeline - 1 && step.chunk == m_plan.virtualStages - 1;
    }

    uint32_t FirstLayer(const PipelineStep& step) const
    {
        return FirstLayerOfChunk(m_source.model, m_plan, m_source.stage, step.chunk);
    }

    uint32_t Layers(const PipelineStep& step) const
    {
        return LayersOfChunk(m_source.model, m_plan, m_source.stage, step.chunk);
    }

    /** With synchronizing timers the CPU also waits after each pass, before whatever follows. */
    void SynchronizeBefore(const PipelineStep& step)
    {
        const bool waitsForBatch =
            m_plan.host.syncBatches && step.kind == PipelineStepKind::Forward;
        if (waitsForBatch || m_plan.host.syncPasses)
        {
            m_writer.SynchronizeHost();
        }
    }

    /** Synchronizes the CPU before the forward pass and the recomputation of a recomputed layer. */
    void SynchronizeLayer(uint32_t layer)
    {
        const bool isWhole = m_plan.recomputation != Recomputation::Selective;
        if (m_plan.host.syncLayers && isWhole && m_plan.Recomputes(layer))
        {
            m_writer.SynchronizeHost();
        }
    }

    void Forward(const PipelineStep& step)
    {
        UseRoot(step);
        if (HasEmbedding(step))
        {
            m_writer.SetLayer(step.microBatch, StepOp::NO_LAYER);
            m_writer.Append(m_source.segments.embeddingForward);
        }
        for (uint32_t i = 0; i < Layers(step); i++)
        {
            const uint32_t layer = FirstLayer(step) + i;
            m_writer.SetLayer(step.microBatch, layer);
            UseUnit();
            SynchronizeLayer(layer);
            m_writer.Append(SegmentsOf(layer).forward);
        }
        if (HasOutput(step))
        {
            m_writer.SetLayer(step.microBatch, StepOp::NO_LAYER);
            m_writer.Append(m_source.segments.outputForward);
        }
    }

    void Backward(const PipelineStep& step, OptimizerWriter& optimizer)
    {
        const bool isLast = --m_passesLeft[step.chunk] == 0;
        if (m_reductions)
        {
            m_reductions->BeginPass(step.chunk);
        }
        WriteBackward(step, &LayerSegments::backward, ReadyIn(isLast, optimizer));
        if (m_reductions)
        {
            m_reductions->EndPass();
        }
        optimizer.ReduceRest();
        optimizer.EndPass(m_passesLeft[step.chunk] + 1 == m_plan.MicroBatches());
    }

    /** Receives the gradients of a backward pass; null if the pass does not reduce them. */
    GradientBuckets* ReadyIn(bool isLast, OptimizerWriter& optimizer) const
    {
        const bool reduces = isLast || optimizer.ReducesEveryPass();
        return reduces && OverlapsGradients(m_plan) ? &optimizer : nullptr;
    }

    /** Backward through all layers. @param ofLayer the sequence that runs for each layer */
    void WriteBackward(const PipelineStep& step,
                       SegmentSequence LayerSegments::*ofLayer,
                       GradientBuckets* ready)
    {
        const uint32_t gradientBytes = GradientBytes(m_plan);
        UseRoot(step);
        if (HasOutput(step))
        {
            m_writer.SetLayer(step.microBatch, StepOp::NO_LAYER);
            m_writer.Append(m_source.segments.outputBackward, ready, gradientBytes);
        }
        for (uint32_t i = Layers(step); i-- > 0;)
        {
            const uint32_t layer = FirstLayer(step) + i;
            m_writer.SetLayer(step.microBatch, layer);
            UseUnit();
            if (m_plan.Recomputes(layer))
            {
                SynchronizeLayer(layer);
                m_writer.Append(SegmentsOf(layer).recompute);
            }
            m_writer.Append(SegmentsOf(layer).*ofLayer, ready, gradientBytes);
            EndUnit(UnitOf(step, i));
        }
        if (HasEmbedding(step))
        {
            m_writer.SetLayer(step.microBatch, StepOp::NO_LAYER);
            m_writer.Append(m_source.segments.embeddingBackward, ready, gradientBytes);
        }
        if (UsesRootUnit(m_plan, m_source.stage, step.chunk))
        {
            EndUnit(LayersOfStage(m_source.model, m_plan, m_source.stage));
        }
    }

    void UseRoot(const PipelineStep& step)
    {
        if (UsesRootUnit(m_plan, m_source.stage, step.chunk))
        {
            UseUnit();
        }
    }

    /** Starts a pass over the next unit of weights, in the order of UnitUses. */
    void UseUnit()
    {
        if (m_gathers)
        {
            m_gathers->Next();
        }
    }

    void EndUnit(uint32_t unit)
    {
        if (m_reductions)
        {
            m_reductions->EndUnit(unit);
        }
    }

    /** The unit of layer @p i of a chunk; see RankWeights. */
    uint32_t UnitOf(const PipelineStep& step, uint32_t i) const
    {
        for (uint32_t chunk = 0; chunk < step.chunk; chunk++)
        {
            i += LayersOfChunk(m_source.model, m_plan, m_source.stage, chunk);
        }
        return i;
    }

    void BackwardInput(const PipelineStep& step, OptimizerWriter& optimizer)
    {
        const bool isLast = step.microBatch + 1 == m_plan.MicroBatches();
        WriteBackward(step, &LayerSegments::backwardInput, ReadyIn(isLast, optimizer));
    }

    /** Gradients of embeddings, norms and output layer were written with those of activations. */
    void BackwardWeights(const PipelineStep& step, OptimizerWriter& optimizer)
    {
        const bool isLast = --m_passesLeft[step.chunk] == 0;
        GradientBuckets* ready = ReadyIn(isLast, optimizer);
        for (uint32_t i = Layers(step); i-- > 0;)
        {
            const uint32_t layer = FirstLayer(step) + i;
            m_writer.SetLayer(step.microBatch, layer);
            m_writer.Append(SegmentsOf(layer).backwardWeights, ready, GradientBytes(m_plan));
        }
        if (ready != nullptr)
        {
            optimizer.ReduceRest();
        }
        optimizer.EndPass(m_passesLeft[step.chunk] + 1 == m_plan.MicroBatches());
    }

    /**
     * Issues all transfers of a batch at once. What follows waits for all of them, or if detached
     * only for receives.
     */
    void Exchange(const PipelineStep& step)
    {
        std::vector<StepDependency> issued;
        Transfer(step, step.sendForward, SEND_FORWARD, "send activations", issued);
        Transfer(step, step.receiveForward, RECEIVE_FORWARD, "receive activations", issued);
        Transfer(step, step.sendBackward, SEND_BACKWARD, "send gradients", issued);
        Transfer(step, step.receiveBackward, RECEIVE_BACKWARD, "receive gradients", issued);
        const bool isSend = step.sendForward.present || step.sendBackward.present;
        if (step.detached && isSend)
        {
            return;
        }
        m_writer.WaitForAll(issued);
        if (m_plan.host.syncTransfers && !step.detached)
        {
            m_writer.SynchronizeHost();
        }
        GatherReceived(step.receiveForward, "activations all-gather");
        GatherReceived(step.receiveBackward, "gradients all-gather");
    }

    void Transfer(const PipelineStep& exchange,
                  const PipelineTransfer& transfer,
                  const StageTransfer& kind,
                  const char* label,
                  std::vector<StepDependency>& issued)
    {
        if (!transfer.present)
        {
            return;
        }
        const CommunicationRequest request =
            kind.Request(m_shape.stageBoundary, m_kernels.Label(label));
        m_writer.SetLayer(transfer.microBatch, StepOp::NO_LAYER);
        issued.push_back(exchange.detached && kind.kind == StepOpKind::Recv
                             ? m_writer.CommunicateFreely(request)
                             : m_writer.Communicate(request));
    }

    /** Gathers the parts that tensor ranks received each; not needed in grids. */
    void GatherReceived(const PipelineTransfer& transfer, const char* label)
    {
        if (!transfer.present || m_plan.tensor == 1 || m_plan.HasGrid() ||
            m_plan.sequenceParallel || !m_plan.scatterGatherPipeline)
        {
            return;
        }
        CommunicationRequest request;
        request.collective = CollectiveOp::AllGather;
        request.bytes = m_shape.boundary;
        request.label = m_kernels.Label(label);
        m_writer.SetLayer(transfer.microBatch, StepOp::NO_LAYER);
        m_writer.Wait(m_writer.Communicate(request));
    }

    static double Seconds(const SegmentSequence& sequence)
    {
        Time time;
        for (const Segment& segment : sequence)
        {
            time += segment.kernels.duration;
        }
        return time.ToSeconds();
    }

    bool HasMostlyExperts() const
    {
        const Transformer& model = m_source.model;
        return 2 * model.ExpertLayersOf(0, model.layers) > model.layers;
    }

    const LayerSegments& SegmentsOf(uint32_t layer) const
    {
        return m_source.segments.Layer(m_source.model.IsExpertLayer(layer));
    }

    /**
     * Pass times of one layer of the given kind; all stages have about the same number of layers.
     */
    static PassTimes TimesOf(const StepSegments& segments, bool hasExperts)
    {
        const LayerSegments& layer = segments.Layer(hasExperts);
        PassTimes times;
        times.forward = Seconds(layer.forward);
        times.backwardInput = Seconds(layer.recompute) + Seconds(layer.backwardInput);
        times.backwardWeights = Seconds(layer.backwardWeights);
        return times;
    }

    const StageSource& m_source;
    const ParallelPlan& m_plan;
    RankShape m_shape;
    KernelTable& m_kernels;
    ProgramWriter m_writer;
    std::optional<UnitGathers> m_gathers;       //!< where weights are gathered unit by unit
    std::optional<UnitReductions> m_reductions; //!< under full sharding
    std::vector<uint32_t> m_passesLeft;         //!< by chunk: remaining backward passes
};

} // namespace

StepProgram
BuildStageProgram(const StageSource& source, KernelTable& kernels)
{
    StepProgram program;
    StageWriter(source, kernels, program).Write();
    return program;
}

} // namespace weir
