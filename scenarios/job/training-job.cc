// SPDX-License-Identifier: GPL-2.0-only
#include "training-job.h"

#include "collective-job.h"
#include "compute-model/kernels/kernel-time.h"
#include "compute-model/plan/parallel-plan.h"
#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/weir-units.h"
#include "plan-text.h"
#include "scenarios/readers/plan-keys.h"
#include "scenarios/readers/scenario-names.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>

namespace ns3
{
namespace
{

/**
 * Parses the attribute OverlapSlowdown.
 * @param text modeled, off, or a factor of at least 1
 * @return the slowdown of kernels that overlap communication
 */
weir::OverlapPolicy
ParseOverlap(const std::string& text)
{
    if (text == "modeled" || text == "off")
    {
        return {text == "off" ? weir::OverlapKind::Off : weir::OverlapKind::Modeled, 1};
    }
    char* end = nullptr;
    const double factor = std::strtod(text.c_str(), &end);
    NS_ABORT_MSG_IF(text.empty() || *end != '\0' || !(factor >= 1) || std::isinf(factor),
                    "TrainingJob: OverlapSlowdown is '"
                        << text << "', expected modeled, off or a factor of at least 1");
    return {weir::OverlapKind::Constant, factor};
}

} // namespace

NS_LOG_COMPONENT_DEFINE("TrainingJob");

NS_OBJECT_ENSURE_REGISTERED(TrainingJob);

TypeId
TrainingJob::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TrainingJob")
            .SetParent<Object>()
            .SetGroupName("Weir")
            .AddConstructor<TrainingJob>()
            .AddTraceSource("OpFinished",
                            "An operation of a rank's step has finished.",
                            MakeTraceSourceAccessor(&TrainingJob::m_opFinished),
                            "ns3::TrainingJob::OpFinishedTracedCallback")
            .AddTraceSource("CollectiveFinished",
                            "A collective or send/recv has finished on all its ranks.",
                            MakeTraceSourceAccessor(&TrainingJob::m_collectiveFinished),
                            "ns3::TrainingJob::CollectiveFinishedTracedCallback")
            .AddTraceSource("StepFinished",
                            "All ranks have finished a step.",
                            MakeTraceSourceAccessor(&TrainingJob::m_stepFinished),
                            "ns3::TrainingJob::StepFinishedTracedCallback");
    // Added after the plan's attributes, as ns-3 sets attributes in this order when it creates an
    // object.
    static TypeId whole = [] {
        TrainingJob defaults;
        return AddParameterAttributes(tid, defaults.GetComponents())
            .AddAttribute(
                "Framework",
                "Training framework whose plan defaults apply, as in a scenario, such as "
                "torchtitan; plan attributes that differ from their defaults or are set later "
                "override them. Empty: the defaults (megatron-lm).",
                StringValue(""),
                MakeStringAccessor(&TrainingJob::SetFramework, &TrainingJob::GetFramework),
                MakeStringChecker());
    }();
    return whole;
}

TrainingJob::TrainingJob()
    : m_plan(weir::DefaultPlan()),
      m_frameworkPlan(m_plan)
{
    NS_LOG_FUNCTION(this);
}

TrainingJob::~TrainingJob()
{
    NS_LOG_FUNCTION(this);
}

void
TrainingJob::DoDispose()
{
    NS_LOG_FUNCTION(this);
    if (m_run)
    {
        m_run->GetExecutor().StopAfterStep();
    }
    Object::DoDispose();
}

weir::ParallelPlan
TrainingJob::GetPlan() const
{
    weir::ParallelPlan plan = m_plan;
    const std::string paths = "tensor: " + std::to_string(plan.tensor);
    if (!m_tensorShape.empty())
    {
        plan.grid =
            ParsePlanText("TensorShape", "{" + paths + ", tensorShape: " + m_tensorShape + "}")
                .grid;
    }
    if (!m_expertLoad.empty())
    {
        plan.expertLoad =
            ParsePlanText("ExpertLoad", "{expertLoad: " + m_expertLoad + "}").expertLoad;
    }
    return plan;
}

std::vector<ParameterComponent>
TrainingJob::GetComponents()
{
    return {{"", this}};
}

void
TrainingJob::VisitParameters(weir::ParameterVisitor& visitor)
{
    constexpr uint32_t MAX_STEPS = 65535;
    constexpr double MAX_JITTER = 10;
    visitor.Text({"name", "Name of the job in traces and messages."}, m_name);
    visitor.Text({"tensorShape",
                  "Shape of the tensor-parallel ranks as a grid, [q, q] or [q, q, d]; empty: one "
                  "dimension."},
                 m_tensorShape);
    visitor.Text({"expertLoad",
                  "Distribution of tokens over experts, as a scenario's expertLoad: {imbalance: "
                  "1.3}; empty: balanced."},
                 m_expertLoad);
    visitor.Enum(
        {"precision", "Precision of weights and activations: fp32, tf32, fp16, bf16 or fp8."},
        m_plan.precision,
        weir::PrecisionNames());
    visitor.Count({"steps", "Number of steps."}, m_steps, {1, MAX_STEPS});
    visitor.Number({"steadyTolerance",
                    "Stop once the 95 % confidence interval of the mean step is within this "
                    "fraction of it; 0: run all steps."},
                   m_steadyTolerance,
                   {0, 1});
    visitor.Number({"jitter",
                    "Coefficient of variation of the random factors (mean 1) on the ranks' compute "
                    "times; 0: none."},
                   m_jitter.coefficientOfVariation,
                   {0, MAX_JITTER});
    visitor.Enum({"jitterPer", "What each jitter factor is drawn for: run, step or operation."},
                 m_jitter.scope,
                 weir::JitterScopeNames());
    visitor.Seed({"jitterSeed", "Seed of the jitter factors."}, m_jitter.seed);
    visitor.Text({"overlapSlowdown",
                  "Slowdown of kernels that overlap communication: modeled, off, or one factor of "
                  "at least 1."},
                 m_overlap);
    visitor.Enum({"fidelity",
                  "Fidelity of the communication: analytical, stream or flow; packet if flows move "
                  "as packets."},
                 m_fidelity,
                 weir::FidelityNames());
    visitor.Duration({"startTime", "Start time of the first step; a past time means at once."},
                     m_startTime,
                     {weir::Time(), weir::Time::Infinite()});
    weir::PlanKeys(m_plan).VisitParameters(visitor);
}

void
TrainingJob::SetFramework(std::string name)
{
    weir::ParallelPlan after = name.empty()
                                   ? weir::DefaultPlan()
                                   : ParsePlanText("Framework", "{framework: " + name + "}");
    weir::PlanKeys keys(m_plan);
    weir::PlanKeys keysBefore(m_frameworkPlan);
    weir::PlanKeys keysAfter(after);
    weir::ReplaceUnchanged(keys, keysBefore, keysAfter);
    m_frameworkPlan = after;
    m_framework = name;
}

std::string
TrainingJob::GetFramework() const
{
    return m_framework;
}

void
TrainingJob::Install(Ptr<FluidFabric> fabric,
                     const std::vector<uint32_t>& gpus,
                     const weir::Network& network,
                     const weir::Gpu& gpu)
{
    NS_LOG_FUNCTION(this << fabric << gpus.size());
    NS_ABORT_MSG_IF(m_run, "TrainingJob: installed twice");
    weir::TrainingJobSpec spec;
    spec.name = m_name;
    spec.network = network;
    spec.plan = GetPlan();
    spec.steps = m_steps;
    spec.steady.tolerance = m_steadyTolerance;
    spec.jitter = m_jitter;
    spec.overlap = ParseOverlap(m_overlap);
    spec.computeScale = m_computeScale;
    spec.start = std::max(m_startTime, ToWeir(Simulator::Now()));
    spec.gpus = std::vector<weir::GpuId>(gpus.begin(), gpus.end());
    m_runtime = CollectiveRuntime::Of(fabric);
    m_runtime->CheckUnrecorded("TrainingJob");
    Ptr<EngineDriver> driver = fabric->GetDriver();
    driver->Hold(this); // keeps the job alive: the simulation calls it to the end
    driver->Synchronize();
    try
    {
        weir::Simulation& simulation = m_runtime->GetSimulation();
        m_run = &simulation.GetJob(simulation.AddJob(spec, gpu, m_fidelity));
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG("TrainingJob: " << m_name << ": " << error.what());
    }
    m_run->GetExecutor().AddObserver(*this);
    driver->Update();
}

void
TrainingJob::SetComputeScale(const std::vector<double>& factors)
{
    NS_ABORT_MSG_IF(m_run, "TrainingJob: SetComputeScale must be called before Install");
    NS_ABORT_MSG_IF(factors.size() != GetNRanks(),
                    "TrainingJob: " << factors.size() << " factors on compute times for "
                                    << GetNRanks() << " ranks");
    m_computeScale = factors;
}

uint32_t
TrainingJob::GetNRanks() const
{
    return GetPlan().Ranks();
}

bool
TrainingJob::IsFinished() const
{
    return m_run && m_run->GetExecutor().IsFinished();
}

const std::vector<weir::Time>&
TrainingJob::GetStepTimes() const
{
    return GetRun().GetExecutor().StepTimes();
}

weir::Time
TrainingJob::GetStepTime() const
{
    NS_ABORT_MSG_IF(!IsFinished(),
                    "TrainingJob: " << m_name << " has not finished\n"
                                    << DescribeWaiting());
    const std::vector<weir::Time>& steps = GetStepTimes();
    NS_ABORT_MSG_IF(steps.empty(), "TrainingJob: " << m_name << " has finished no step");
    const weir::TrainingJobSpec& spec = GetRun().GetSpec();
    if (!spec.jitter.IsOn() && !spec.steady.IsOn())
    {
        return steps.back();
    }
    // The first of overlapping steps includes filling the pipeline.
    const std::size_t first = spec.plan.OverlapsSteps() && steps.size() > 1 ? 1 : 0;
    weir::Time sum;
    for (std::size_t i = first; i < steps.size(); i++)
    {
        sum = sum + steps[i];
    }
    return weir::Time::Picoseconds(sum.ToPicoseconds() /
                                   static_cast<int64_t>(steps.size() - first));
}

weir::Time
TrainingJob::GetSteadyStepTime() const
{
    NS_ABORT_MSG_IF(GetStepTimes().empty(),
                    "TrainingJob: " << m_name << " has finished no step\n"
                                    << DescribeWaiting());
    return GetRun().GetExecutor().SteadyStep();
}

const std::vector<weir::RankBreakdown>&
TrainingJob::GetBreakdown() const
{
    return GetRun().GetExecutor().Breakdown();
}

std::string
TrainingJob::DescribeWaiting() const
{
    return GetRun().GetExecutor().DescribeWaiting();
}

weir::TrainingRun&
TrainingJob::GetRun() const
{
    NS_ABORT_MSG_IF(!m_run, "TrainingJob: " << m_name << " is not installed");
    return *m_run;
}

void
TrainingJob::OnOpFinished(uint32_t step,
                          weir::Rank rank,
                          weir::StreamKind stream,
                          const weir::StepOp& op,
                          weir::Time posted,
                          weir::Time started,
                          weir::Time finished)
{
    m_opFinished(step, rank, stream, op, posted, started, finished);
}

void
TrainingJob::OnCollectiveFinished(uint32_t step,
                                  uint32_t group,
                                  const weir::StepOp& op,
                                  uint64_t number,
                                  weir::Time firstArrival,
                                  weir::Time started,
                                  weir::Time finished)
{
    m_collectiveFinished(step, group, op, firstArrival, started, finished);
}

void
TrainingJob::OnStepFinished(uint32_t step, weir::Time started, weir::Time finished)
{
    m_stepFinished(step, started, finished);
}

} // namespace ns3

/**
 * Programs that link the library of jobs make their linker require this symbol, so that the object
 * types of jobs are available by name (--PrintGroup=Weir, ObjectFactory, Config paths) even if the
 * program does not mention them.
 */
extern "C" void
WeirJobTypes()
{
    ns3::CollectiveJob::GetTypeId();
    ns3::CollectiveRuntime::GetTypeId();
    ns3::TrainingJob::GetTypeId();
}
