// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/table-step.h"

#include "compute-model/execution/step-load.h"
#include "compute-model/graph/optimizer-program.h"
#include "compute-model/graph/program-writer.h"
#include "compute-model/layers/table-kernels.h"
#include "compute-model/plan/rank-groups.h"

#include <cmath>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr double FP32 = 4; // bytes

// torch.optim.Adam's default, one kernel an operation over lists of tensors (foreach): lerp 3, mul
// 2, addcmul 3, sqrt 2, div 2, add 2, addcdiv 4 operands.
constexpr double ADAM_OPERANDS = 18;

// CUDA context and libraries of an idle PyTorch process, cuDNN workspace (see memory-estimate.cc).
constexpr int64_t CONTEXT_MIB = 1024;

constexpr uint64_t BUFFER_COLUMNS = 1024; // of the matrix that a buffer is described as

/** Writes the program of every replica. */
class TableProgram
{
  public:
    TableProgram(const LayerTable& table,
                 const ParallelPlan& plan,
                 Precision convolutions,
                 KernelTable& kernels,
                 StepProgram& program)
        : m_plan(plan),
          m_parameters(table.Parameters()),
          m_forward(TableForward(kernels, table, plan, convolutions)),
          m_backward(TableBackward(kernels, table, plan, convolutions)),
          m_kernels(kernels),
          m_writer(kernels, program, plan.host)
    {
    }

    void Write()
    {
        OverParameters("gradient zero", MemoryKernel::Fill, 1);
        Flush("zero gradients");
        std::vector<GradientPiece> pieces;
        for (uint32_t pass = 0; pass < m_plan.MicroBatches(); pass++)
        {
            const bool isLast = pass + 1 == m_plan.MicroBatches();
            m_writer.SetPlace(pass, StepOp::NO_LAYER);
            m_writer.Append(m_forward);
            m_writer.Append(m_backward, isLast ? &pieces : nullptr, GradientBytes(m_plan));
        }
        if (m_plan.data > 1)
        {
            Reduce(pieces);
        }
        m_writer.SetPlace(0, StepOp::NO_LAYER);
        OverParameters("Adam", MemoryKernel::Elementwise, ADAM_OPERANDS);
        Flush("optimizer update");
    }

  private:
    void Reduce(const std::vector<GradientPiece>& pieces)
    {
        std::vector<StepDependency> issued;
        // Without overlap all gradients wait for the last of them.
        const Bytes bucket = m_plan.overlapGradients
                                 ? m_plan.bucket
                                 : Bytes::Nearest(m_parameters * GradientBytes(m_plan));
        for (const GradientBucket& packed : PackGradients(pieces, bucket))
        {
            CommunicationRequest request;
            request.stream = StreamKind::DataComm;
            request.category = TimeCategory::Data;
            request.slot = GroupSlot::Data;
            request.bytes = packed.bytes;
            request.label = m_kernels.Label("gradient bucket");
            issued.push_back(m_writer.CommunicateAfter(request, packed.position));
        }
        for (const StepDependency& operation : issued)
        {
            m_writer.Wait(operation);
        }
    }

    void OverParameters(const char* name, MemoryKernel kernel, double operands)
    {
        const auto rows =
            static_cast<uint64_t>(std::ceil(m_parameters / static_cast<double>(BUFFER_COLUMNS)));
        m_kernels.Memory(name, kernel, rows, BUFFER_COLUMNS, operands * FP32, 0);
    }

    void Flush(const char* label)
    {
        Segment segment;
        segment.label = m_kernels.Label(label);
        segment.kernels = m_kernels.Close();
        m_writer.Append({segment});
    }

    const ParallelPlan& m_plan;
    double m_parameters;
    SegmentSequence m_forward;
    SegmentSequence m_backward;
    KernelTable& m_kernels;
    ProgramWriter m_writer;
};

/**
 * What convolutions compute in: tf32 for 32-bit activations where the GPU has it, as PyTorch lets
 * cuDNN choose (torch.backends.cudnn.allow_tf32), while linear layers keep fp32.
 */
Precision
ConvolutionPrecision(const ParallelPlan& plan, const Gpu& gpu)
{
    const bool hasTf32 =
        gpu.tensorFlopsPerSmPerClock[static_cast<std::size_t>(Precision::Tf32)] > 0;
    return plan.precision == Precision::Fp32 && hasTf32 ? Precision::Tf32 : plan.precision;
}

/** How near the passes come to the load that the sustained clock was read under; see StepLoad. */
double
LoadOf(const LayerTable& table, const ParallelPlan& plan, const Gpu& gpu)
{
    StepGraph graph;
    const KernelTimer timer(gpu, ClockRegime::Burst);
    const Precision convolutions = ConvolutionPrecision(plan, gpu);
    KernelTable kernels(graph, timer, plan.host.kernel);
    Time busy;
    Time host;
    double flops = 0;
    for (const SegmentSequence& pass : {TableForward(kernels, table, plan, convolutions),
                                        TableBackward(kernels, table, plan, convolutions)})
    {
        for (const Segment& segment : pass)
        {
            busy += segment.kernels.duration;
            host += segment.kernels.host;
        }
    }
    for (const KernelRecord& kernel : graph.kernels)
    {
        flops += kernel.flops.ToDouble();
    }
    const double seconds = std::max(busy, host).ToSeconds();
    const double peak = gpu.Peak(convolutions).ToFlopsPerSecond();
    return seconds > 0 && peak > 0
               ? std::min(1.0, flops / (peak * seconds) / gpu.kernels.fullLoadUtilisation)
               : 0;
}

[[noreturn]] void
Refuse(const char* field, uint64_t found, const std::string& expected)
{
    throw std::invalid_argument(std::string(field) + ": found " + std::to_string(found) +
                                ", expected " + expected);
}

} // namespace

void
CheckTablePlan(const LayerTable& table, const ParallelPlan& plan)
{
    for (const auto& [field, ways] : {std::pair("tensor", plan.tensor),
                                      std::pair("pipeline", plan.pipeline),
                                      std::pair("context", plan.context),
                                      std::pair("expert", plan.expert),
                                      std::pair("virtualStages", plan.virtualStages)})
    {
        if (ways != 1)
        {
            Refuse(
                field, ways, "1 for " + table.name + ", a table of layers: it has replicas only");
        }
    }
    if (plan.data == 0 || plan.microBatch == 0 || plan.globalBatch == 0)
    {
        Refuse("data", plan.data, "at least 1, as microBatch and globalBatch");
    }
    const uint64_t samples = uint64_t{plan.microBatch} * plan.data;
    if (plan.globalBatch % samples != 0)
    {
        Refuse("microBatch * data",
               samples,
               "a divisor of globalBatch = " + std::to_string(plan.globalBatch));
    }
    if (plan.Sharded() != ShardedState::None)
    {
        Refuse("distributedOptimizer", 1, "false for a table of layers");
    }
    if (plan.overlapGradients && plan.data > 1 && plan.bucket <= Bytes())
    {
        Refuse("bucket", 0, "more than 0 bytes when gradients overlap");
    }
}

StepGraph
BuildTableStep(const LayerTable& table, const ParallelPlan& plan, const Gpu& gpu)
{
    CheckTablePlan(table, plan);
    StepGraph graph;
    WriteRankGroups(Transformer(), plan, graph);
    const Gpu warm = UnderLoad(gpu, LoadOf(table, plan, gpu));
    const KernelTimer timer(warm, ClockRegime::Sustained);
    KernelTable kernels(graph, timer, plan.host.kernel);
    graph.programs.emplace_back();
    TableProgram(table, plan, ConvolutionPrecision(plan, gpu), kernels, graph.programs.back())
        .Write();
    graph.programStage.push_back(0);
    graph.rankProgram.assign(plan.Ranks(), 0);
    return graph;
}

MemoryEstimate
EstimateTableMemory(const LayerTable& table, const ParallelPlan& plan)
{
    const double parameters = table.Parameters();
    double activations = 0;
    for (const TableLayer& layer : table.layers)
    {
        activations += static_cast<double>(layer.out.Elements());
    }
    const double element = ActivationBytes(plan.precision);
    MemoryEstimate estimate;
    estimate.weights = Bytes::Nearest(parameters * element);
    estimate.gradients = Bytes::Nearest(parameters * GradientBytes(plan) * (plan.data > 1 ? 2 : 1));
    estimate.optimizer = Bytes::Nearest(parameters * FP32 * (element < FP32 ? 3 : 2));
    estimate.activations = Bytes::Nearest(activations * element * plan.microBatch);
    estimate.buffers = Bytes::MiB(CONTEXT_MIB);
    return estimate;
}

} // namespace weir
