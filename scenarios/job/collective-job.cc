// SPDX-License-Identifier: GPL-2.0-only
#include "collective-job.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <exception>
#include <optional>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CollectiveJob");

NS_OBJECT_ENSURE_REGISTERED(CollectiveJob);

namespace
{

/** The value that @p name stands for; ends the program when it stands for none. */
template <typename E>
E
Parse(std::optional<E> (*parse)(const std::string&), const std::string& name, const char* attribute)
{
    const std::optional<E> value = parse(name);
    NS_ABORT_MSG_IF(!value, "CollectiveJob: " << attribute << " is '" << name << "'");
    return *value;
}

/** As Parse, with nothing for "auto". */
template <typename E>
std::optional<E>
ParseOrAuto(std::optional<E> (*parse)(const std::string&),
            const std::string& name,
            const char* attribute)
{
    return name == "auto" ? std::nullopt : std::optional<E>(Parse(parse, name, attribute));
}

} // namespace

TypeId
CollectiveJob::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CollectiveJob")
            .SetParent<Object>()
            .SetGroupName("Weir")
            .AddConstructor<CollectiveJob>()
            .AddAttribute("Operation",
                          "all-reduce, all-gather, reduce-scatter, broadcast, reduce, "
                          "all-to-all, gather, scatter, send-recv (each rank to the next) or "
                          "send (the first to the second).",
                          StringValue("all-reduce"),
                          MakeStringAccessor(&CollectiveJob::m_operation),
                          MakeStringChecker())
            .AddAttribute("Bytes",
                          "Size as nccl-tests counts it: of the large buffer for all-gather, "
                          "reduce-scatter, gather and scatter, else what each rank holds (bytes).",
                          UintegerValue(1 << 30),
                          MakeUintegerAccessor(&CollectiveJob::m_bytes),
                          MakeUintegerChecker<uint64_t>(0, INT64_MAX))
            .AddAttribute(
                "Root",
                "Rank in the group that a broadcast or a scatter starts from, a reduce or a "
                "gather ends at.",
                UintegerValue(0),
                MakeUintegerAccessor(&CollectiveJob::m_root),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("Algorithm",
                          "ring, or auto for NCCL's choice.",
                          StringValue("auto"),
                          MakeStringAccessor(&CollectiveJob::m_algorithm),
                          MakeStringChecker())
            .AddAttribute("Protocol",
                          "ll, ll128, simple, or auto for NCCL's choice.",
                          StringValue("auto"),
                          MakeStringAccessor(&CollectiveJob::m_protocol),
                          MakeStringChecker())
            .AddAttribute("Channels",
                          "How many channels; 0 for NCCL's choice.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&CollectiveJob::m_channels),
                          MakeUintegerChecker<uint32_t>(0, 64))
            .AddAttribute("Fidelity",
                          "How closely it is followed: analytical, stream or flow.",
                          StringValue("stream"),
                          MakeStringAccessor(&CollectiveJob::m_fidelity),
                          MakeStringChecker())
            .AddAttribute("Calls",
                          "How many calls, one after another.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&CollectiveJob::m_calls),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("StartTime",
                          "When the first call begins; at once if that has passed.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&CollectiveJob::m_startTime),
                          MakeTimeChecker(Time(0)))
            .AddTraceSource("CollectiveFinished",
                            "A call has ended on all its ranks.",
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
    m_fabric = nullptr;
    m_runtime = nullptr;
    Object::DoDispose();
}

void
CollectiveJob::Install(Ptr<FluidFabric> fabric, const std::vector<uint32_t>& gpus)
{
    NS_LOG_FUNCTION(this << fabric << gpus.size());
    NS_ABORT_MSG_IF(m_fabric, "CollectiveJob: installed twice");
    m_fabric = fabric;
    m_runtime = CollectiveRuntime::Of(fabric);
    m_call.op = Parse(weir::ParseCollectiveOp, m_operation, "Operation");
    m_call.bytes = weir::Bytes(static_cast<int64_t>(m_bytes));
    m_call.root = m_root;
    m_call.overrides.algorithm = ParseOrAuto(weir::ParseAlgorithm, m_algorithm, "Algorithm");
    m_call.overrides.protocol = ParseOrAuto(weir::ParseProtocol, m_protocol, "Protocol");
    if (m_channels > 0)
    {
        m_call.overrides.channels = m_channels;
    }
    m_engine = &m_runtime->GetEngine(Parse(weir::ParseFidelity, m_fidelity, "Fidelity"));
    const std::vector<weir::GpuId> group(gpus.begin(), gpus.end());
    try
    {
        m_call.communicator = m_runtime->GetPlanner().AddCommunicator(group);
        m_runtime->GetPlanner().Plan(m_call);
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG("CollectiveJob: " << error.what());
    }
    // The event keeps the job until it begins; the job does not keep the event.
    Simulator::Schedule(Max(m_startTime, Simulator::Now()) - Simulator::Now(),
                        &CollectiveJob::Start,
                        Ptr<CollectiveJob>(this));
}

const weir::CollectivePlan&
CollectiveJob::GetPlan()
{
    NS_ABORT_MSG_IF(!m_runtime, "CollectiveJob: not installed");
    return m_runtime->GetPlanner().Plan(m_call);
}

const std::vector<weir::Time>&
CollectiveJob::GetDurations() const
{
    return m_durations;
}

weir::Rate
CollectiveJob::GetBusBandwidth() const
{
    NS_ABORT_MSG_IF(m_durations.empty(), "CollectiveJob: no call has finished");
    const uint32_t ranks = m_runtime->GetPlanner().GetCommunicator(m_call.communicator).Size();
    return weir::Rate::BytesPerSecond(m_call.bytes.ToDouble() / m_durations.back().ToSeconds()) *
           weir::BusBandwidthFactor(m_call.op, ranks);
}

void
CollectiveJob::Start()
{
    NS_LOG_FUNCTION(this);
    if (!m_fabric)
    {
        return; // disposed of before it began
    }
    Ptr<EngineDriver> driver = m_fabric->GetDriver();
    Call(driver->Synchronize());
    driver->Update();
}

void
CollectiveJob::Call(weir::Time now)
{
    m_started = now;
    m_engine->Start(m_call, this, m_durations.size(), now);
}

void
CollectiveJob::OnCollectiveDone(uint64_t token, weir::Time now)
{
    const weir::Time started = m_started;
    m_durations.push_back(now - started);
    if (m_durations.size() < m_calls)
    {
        Call(now);
    }
    m_finished(static_cast<uint32_t>(token), GetPlan(), started, now);
}

} // namespace ns3
