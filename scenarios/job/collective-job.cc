// SPDX-License-Identifier: GPL-2.0-only
#include "collective-job.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/weir-units.h"

#include <exception>
#include <optional>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CollectiveJob");

NS_OBJECT_ENSURE_REGISTERED(CollectiveJob);

namespace
{

/** The names of an enumeration's values up to @p last, commas between. */
template <typename E>
std::string
NamesUpTo(E last)
{
    std::string names;
    for (int i = 0; i <= static_cast<int>(last); i++)
    {
        names += (names.empty() ? "" : ", ") + std::string(weir::ToString(static_cast<E>(i)));
    }
    return names;
}

/** The algorithms that a call may ask for: no file is at hand here. */
std::string
AlgorithmNames()
{
    return "auto, " + NamesUpTo(weir::Algorithm::PointToPoint) + ", " +
           weir::ToString(weir::Algorithm::DimensionWise);
}

/** The value that @p name stands for; ends the program when it stands for none. */
template <typename E>
E
Parse(std::optional<E> (*parse)(const std::string&),
      const std::string& name,
      const char* attribute,
      const std::string& expected)
{
    const std::optional<E> value = parse(name);
    NS_ABORT_MSG_IF(!value,
                    "CollectiveJob: " << attribute << " is '" << name
                                      << "', expected one of: " << expected);
    return *value;
}

/** As Parse, with nothing for "auto". */
template <typename E>
std::optional<E>
ParseOrAuto(std::optional<E> (*parse)(const std::string&),
            const std::string& name,
            const char* attribute,
            const std::string& expected)
{
    return name == "auto" ? std::nullopt
                          : std::optional<E>(Parse(parse, name, attribute, expected));
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
                          "One of: " + AlgorithmNames() + "; auto is NCCL's choice.",
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
                          "How closely it is followed: analytical, stream or flow; packet where "
                          "flows move as packets.",
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
    if (m_loop)
    {
        m_loop->Stop();
    }
    Object::DoDispose();
}

void
CollectiveJob::Install(Ptr<FluidFabric> fabric, const std::vector<uint32_t>& gpus)
{
    NS_LOG_FUNCTION(this << fabric << gpus.size());
    NS_ABORT_MSG_IF(m_loop, "CollectiveJob: installed twice");
    NS_ABORT_MSG_IF(gpus.empty(), "CollectiveJob: found no GPU to install it on, expected one");
    weir::CollectiveCall call;
    call.op = Parse(
        weir::ParseCollectiveOp, m_operation, "Operation", NamesUpTo(weir::LAST_COLLECTIVE_OP));
    call.bytes = weir::Bytes(static_cast<int64_t>(m_bytes));
    call.root = m_root;
    call.overrides.algorithm =
        ParseOrAuto(weir::ParseAlgorithm, m_algorithm, "Algorithm", AlgorithmNames());
    call.overrides.protocol = ParseOrAuto(
        weir::ParseProtocol, m_protocol, "Protocol", "auto, " + NamesUpTo(weir::Protocol::Simple));
    if (m_channels > 0)
    {
        call.overrides.channels = m_channels;
    }
    const auto fidelity =
        Parse(weir::ParseFidelity, m_fidelity, "Fidelity", NamesUpTo(weir::Fidelity::Packet));
    m_runtime = CollectiveRuntime::Of(fabric);
    m_runtime->CheckUnrecorded("CollectiveJob");
    Ptr<EngineDriver> driver = fabric->GetDriver();
    driver->Hold(this); // the simulation calls it to the end, whoever else knows it
    driver->Synchronize();
    const weir::Time start = ToWeir(Max(m_startTime, Simulator::Now()));
    try
    {
        m_loop = &m_runtime->GetSimulation().AddCollective(
            std::vector<weir::GpuId>(gpus.begin(), gpus.end()),
            {{call}, m_calls, start, weir::Time()},
            fidelity,
            [this](uint32_t number, weir::Time started, weir::Time now) {
                m_finished(number, GetPlan(), started, now);
            });
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG("CollectiveJob: " << error.what());
    }
    m_runtime->NoteStart(start);
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
    const uint32_t ranks = planner.GetCommunicator(call.communicator).Size();
    const double seconds = GetDurations().back().ToSeconds();
    if (seconds == 0)
    {
        return weir::Rate(); // nothing to move: one rank, or no bytes
    }
    return weir::Rate::BytesPerSecond(call.bytes.ToDouble() / seconds) *
           weir::BusBandwidthFactor(call.op, ranks);
}

} // namespace ns3
