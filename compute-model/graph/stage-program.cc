// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/stage-program.h"

#include "compute-model/graph/optimizer-program.h"
#include "compute-model/graph/program-writer.h"
#include "compute-model/plan/pipeline-schedule.h"
#include "compute-model/plan/rank-shape.h"
#include "compute-model/plan/stage-layers.h"

#include <utility>
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
        PipelinePlace place;
        place.kind = m_plan.schedule;
        place.stage = m_source.stage;
        place.stages = m_plan.pipeline;
        place.microBatches = m_plan.MicroBatches();
        place.chunks = m_plan.virtualStages;
        for (const PipelineStep& step : PipelineSchedule(place))
        {
            switch (step.kind)
            {
            case PipelineStepKind::Forward:
                Forward(step);
                break;
            case PipelineStepKind::Backward:
                Backward(step, optimizer);
                break;
            case PipelineStepKind::Exchange:
                Exchange(step);
                break;
            }
        }
        m_writer.SetPlace(0, StepOp::NO_LAYER);
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

    void Forward(const PipelineStep& step)
    {
        if (m_plan.host.syncBatches)
        {
            m_writer.SynchronizeHost();
        }
        if (HasEmbedding(step))
        {
            m_writer.SetPlace(step.microBatch, StepOp::NO_LAYER);
            m_writer.Append(m_source.segments.embeddingForward);
        }
        for (uint32_t i = 0; i < Layers(step); i++)
        {
            m_writer.SetPlace(step.microBatch, FirstLayer(step) + i);
            m_writer.Append(m_source.segments.layerForward);
        }
        if (HasOutput(step))
        {
            m_writer.SetPlace(step.microBatch, StepOp::NO_LAYER);
            m_writer.Append(m_source.segments.outputForward);
        }
    }

    void Backward(const PipelineStep& step, OptimizerWriter& optimizer)
    {
        const bool isLast = --m_passesLeft[step.chunk] == 0;
        std::vector<GradientPiece> pieces;
        std::vector<GradientPiece>* ready =
            isLast && optimizer.OverlapsGradients() ? &pieces : nullptr;
        const uint32_t gradientBytes = GradientBytes(m_plan);
        if (HasOutput(step))
        {
            m_writer.SetPlace(step.microBatch, StepOp::NO_LAYER);
            m_writer.Append(m_source.segments.outputBackward, ready, gradientBytes);
        }
        for (uint32_t i = Layers(step); i-- > 0;)
        {
            m_writer.SetPlace(step.microBatch, FirstLayer(step) + i);
            m_writer.Append(m_source.segments.layerRecompute);
            m_writer.Append(m_source.segments.layerBackward, ready, gradientBytes);
        }
        if (HasEmbedding(step))
        {
            m_writer.SetPlace(step.microBatch, StepOp::NO_LAYER);
            m_writer.Append(m_source.segments.embeddingBackward, ready, gradientBytes);
        }
        optimizer.ReduceEarly(pieces);
    }

    /** Issues all transfers of a batch at once; what follows waits for all of them. */
    void Exchange(const PipelineStep& step)
    {
        std::vector<StepDependency> issued;
        Transfer(issued,
                 step.sendForward,
                 StreamKind::PipelineSend,
                 GroupSlot::SendForward,
                 "send activations");
        Transfer(issued,
                 step.receiveForward,
                 StreamKind::PipelineRecv,
                 GroupSlot::ReceiveForward,
                 "receive activations");
        Transfer(issued,
                 step.sendBackward,
                 StreamKind::PipelineSendBackward,
                 GroupSlot::SendBackward,
                 "send gradients");
        Transfer(issued,
                 step.receiveBackward,
                 StreamKind::PipelineRecvBackward,
                 GroupSlot::ReceiveBackward,
                 "receive gradients");
        for (const StepDependency& operation : issued)
        {
            m_writer.Wait(operation);
        }
        if (m_plan.host.syncTransfers)
        {
            m_writer.SynchronizeHost();
        }
        GatherReceived(step.receiveForward, "activations all-gather");
        GatherReceived(step.receiveBackward, "gradients all-gather");
    }

    void Transfer(std::vector<StepDependency>& issued,
                  const PipelineTransfer& transfer,
                  StreamKind stream,
                  GroupSlot slot,
                  const char* label)
    {
        if (!transfer.present)
        {
            return;
        }
        const bool isSend =
            stream == StreamKind::PipelineSend || stream == StreamKind::PipelineSendBackward;
        CommunicationRequest request;
        request.stream = stream;
        request.kind = isSend ? StepOpKind::Send : StepOpKind::Recv;
        request.collective = CollectiveOp::Send;
        request.category = TimeCategory::Pipeline;
        request.slot = slot;
        request.bytes = m_shape.stageBoundary;
        request.label = m_kernels.Label(label);
        m_writer.SetPlace(transfer.microBatch, StepOp::NO_LAYER);
        issued.push_back(m_writer.Communicate(request));
    }

    /** Each tensor rank received its part only; NVLink brings the rest. */
    void GatherReceived(const PipelineTransfer& transfer, const char* label)
    {
        if (!transfer.present || m_plan.tensor == 1 || m_plan.sequenceParallel ||
            !m_plan.scatterGatherPipeline)
        {
            return;
        }
        CommunicationRequest request;
        request.collective = CollectiveOp::AllGather;
        request.bytes = m_shape.boundary;
        request.label = m_kernels.Label(label);
        m_writer.SetPlace(transfer.microBatch, StepOp::NO_LAYER);
        m_writer.Wait(m_writer.Communicate(request));
    }

    const StageSource& m_source;
    const ParallelPlan& m_plan;
    RankShape m_shape;
    KernelTable& m_kernels;
    ProgramWriter m_writer;
    std::vector<uint32_t> m_passesLeft; //!< by chunk: backward passes still to come
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
