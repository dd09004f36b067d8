// SPDX-License-Identifier: GPL-2.0-only
#include "collective-job.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/weir-units.h"
#include "scenarios/readers/scenario-names.h"

#include <algorithm>
#include <exception>
#include <limits>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CollectiveJob");

NS_OBJECT_ENSURE_REGISTERED(CollectiveJob);

namespace
{

/** The choices and "auto", which gives no value. */
template <typename E>
weir::NamedChoices<std::optional<E>>
OrAuto(const weir::NamedChoices<E>& choices)
{
    weir::NamedChoices<std::optional<E>> all{{"auto", std::nullopt}};
    all.insert(all.end(), choices.begin(), choices.end());
    return all;
}

} // namespace

TypeId
CollectiveJob::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<CollectiveJob>("ns3::CollectiveJob")
                            .AddTraceSource("CollectiveFinished",
                                            "A call has finished on all its ranks.",
                                            MakeTraceSourceAccessor(&CollectiveJob::m_finished),
                                            "ns3::CollectiveJob::CollectiveFinishedTracedCallback");
    return tid;
}

CollectiveJob::CollectiveJob()
{
    NS_LOG_FUNCTION(this);
}

CollectiveJob::~CollectiveJob()
{
    NS_LOG_FUNCTION(this);
}

void
CollectiveJob::DoDispose()
{
    NS_LOG_FUNCTION(this);
    if (m_loop)
    {
        m_loop->Stop();
    }
    Object::DoDispose();
}

std::vector<ParameterComponent>
CollectiveJob::GetComponents()
{
    return {{"", this}};
}

void
CollectiveJob::VisitParameters(weir::ParameterVisitor& visitor)
{
    constexpr uint32_t MAX_CHANNELS = 64;
    constexpr uint32_t ANY = std::numeric_limits<uint32_t>::max();
    visitor.Enum(
        {"operation",
         "Operation: all-reduce, all-gather, reduce-scatter, broadcast, reduce, all-to-all, "
         "gather, scatter, send-recv (each rank to the next) or send (the first to the second)."},
        m_operation,
        weir::ChoicesUpTo(weir::LAST_COLLECTIVE_OP));
    visitor.Size({"bytes",
                  "Size as nccl-tests counts it: the larger buffer for all-gather, reduce-scatter, "
                  "gather and scatter, else the buffer of each rank."},
                 m_bytes,
                 {weir::Bytes(), weir::Bytes(std::numeric_limits<int64_t>::max())});
    visitor.Count({"root", "Root rank in the group of a broadcast, scatter, reduce or gather."},
                  m_root,
                  {0, ANY});
    visitor.Enum({"algorithm",
                  "Algorithm: auto (NCCL's choice), ring, tree, collnet-direct, collnet-chain, "
                  "nvls, nvls-tree, pat, point-to-point or dimension-wise."},
                 m_algorithm,
                 OrAuto(weir::CalledAlgorithms()));
    visitor.Enum({"protocol", "Protocol: ll, ll128, simple, or auto (NCCL's choice)."},
                 m_protocol,
                 OrAuto(weir::ChoicesUpTo(weir::Protocol::Simple)));
    visitor.Count(
        {"channels", "Number of channels; 0: NCCL's choice."}, m_channels, {0, MAX_CHANNELS});
    visitor.Enum({"fidelity",
                  "Fidelity of the communication: analytical, stream or flow; packet if flows move "
                  "as packets."},
                 m_fidelity,
                 weir::FidelityNames());
    visitor.Count({"calls", "Number of back-to-back calls."}, m_calls, {1, ANY});
    visitor.Duration({"startTime", "Start time of the first call; a past time means at once."},
                     m_startTime,
                     {weir::Time(), weir::Time::Infinite()});
}

void
CollectiveJob::Install(Ptr<FluidFabric> fabric, const std::vector<uint32_t>& gpus)
{
    NS_LOG_FUNCTION(this << fabric << gpus.size());
    NS_ABORT_MSG_IF(m_loop, "CollectiveJob: installed twice");
    NS_ABORT_MSG_IF(gpus.empty(), "CollectiveJob: found no GPU to install it on, expected one");
    weir::CollectiveCall call;
    call.op = m_operation;
    call.bytes = m_bytes;
    call.root = m_root;
    call.overrides.algorithm = m_algorithm;
    call.overrides.protocol = m_protocol;
    if (m_channels > 0)
    {
        call.overrides.channels = m_channels;
    }
    m_runtime = CollectiveRuntime::Of(fabric);
    m_runtime->CheckUnrecorded("CollectiveJob");
    Ptr<EngineDriver> driver = fabric->GetDriver();
    driver->Hold(this); // keeps the job alive: the simulation calls it to the end
    driver->Synchronize();
    const weir::Time start = std::max(m_startTime, ToWeir(Simulator::Now()));
    try
    {
        m_loop = &m_runtime->GetSimulation().AddCollective(
            std::vector<weir::GpuId>(gpus.begin(), gpus.end()),
            {{call}, m_calls, start, weir::Time()},
            m_fidelity,
            [this](uint32_t number, weir::Time started, weir::Time now) {
                m_finished(number, GetPlan(), started, now);
            });
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG("CollectiveJob: " << error.what());
    }
    driver->Update();
}

const weir::CollectiveLoop&
CollectiveJob::GetLoop() const
{
    NS_ABORT_MSG_IF(!m_loop, "CollectiveJob: not installed");
    return *m_loop;
}

const weir::CollectivePlan&
CollectiveJob::GetPlan()
{
    const weir::CollectiveCall& call = GetLoop().GetCall();
    return m_runtime->GetSimulation().GetPlanner().Plan(call);
}

const std::vector<weir::Time>&
CollectiveJob::GetDurations() const
{
    return GetLoop().Durations();
}

std::string
CollectiveJob::DescribeWaiting() const
{
    return GetLoop().IsFinished() ? "" : m_runtime->GetSimulation().DescribeWaiting();
}

weir::Rate
CollectiveJob::GetBusBandwidth() const
{
    NS_ABORT_MSG_IF(GetDurations().empty(),
                    "CollectiveJob: no call has finished\n"
                        << DescribeWaiting());
    const weir::CollectiveCall& call = GetLoop().GetCall();
    weir::Planner& planner = m_runtime->GetSimulation().GetPlanner();
    const uint32_t ranks = planner.GetGroup(call.communicator).Size();
    const double seconds = GetDurations().back().ToSeconds();
    if (seconds == 0)
    {
        return weir::Rate(); // nothing to move: one rank, or no bytes
    }
    return weir::Rate::BytesPerSecond(call.bytes.ToDouble() / seconds) *
           weir::BusBandwidthFactor(call.op, ranks);
}

} // namespace ns3
