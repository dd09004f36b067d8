// SPDX-License-Identifier: GPL-2.0-only
#include "flow-source.h"

#include "gpu-server.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cmath>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FlowSource");

NS_OBJECT_ENSURE_REGISTERED(FlowSource);

namespace
{

constexpr double MAX_BYTES = 9223372036854775808.0; //!< exclusive upper bound of a flow: 2^63
constexpr uint32_t MAX_ZERO_INTERVALS = 10000; //!< flows started at one instant, without MaxFlows

} // namespace

TypeId
FlowSource::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FlowSource")
            .SetParent<Application>()
            .SetGroupName("Weir")
            .AddConstructor<FlowSource>()
            .AddAttribute("Gpu",
                          "Index of the sending GPU within its server.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FlowSource::m_gpu),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Size",
                          "Size of a flow in bytes, rounded to an integer; negative random values "
                          "count as zero.",
                          StringValue("ns3::ConstantRandomVariable[Constant=1048576]"),
                          MakePointerAccessor(&FlowSource::m_size),
                          MakePointerChecker<RandomVariableStream>())
            .AddAttribute("Interval",
                          "Time between the starts of consecutive flows in seconds; exponential "
                          "intervals make Poisson traffic.",
                          StringValue("ns3::ConstantRandomVariable[Constant=0.001]"),
                          MakePointerAccessor(&FlowSource::m_pause),
                          MakePointerChecker<RandomVariableStream>())
            .AddAttribute(
                "MaxFlows",
                "Maximum number of flows; 0: no limit, in which case not all intervals may be 0.",
                UintegerValue(0),
                MakeUintegerAccessor(&FlowSource::m_maxFlows),
                MakeUintegerChecker<uint64_t>())
            .AddAttribute("Form",
                          "Form in which flows move in a hybrid transport: fluid or packet.",
                          StringValue("fluid"),
                          MakeStringAccessor(&FlowSource::SetForm, &FlowSource::GetForm),
                          MakeStringChecker())
            .AddTraceSource("FlowFinished",
                            "The last byte of a flow of this source was delivered.",
                            MakeTraceSourceAccessor(&FlowSource::m_flowFinished),
                            "ns3::FlowSource::FlowFinishedTracedCallback");
    return tid;
}

FlowSource::FlowSource()
    : m_pick(CreateObject<UniformRandomVariable>())
{
    NS_LOG_FUNCTION(this);
}

void
FlowSource::DoDispose()
{
    NS_LOG_FUNCTION(this);
    Simulator::Cancel(m_next);
    Application::DoDispose();
}

void
FlowSource::SetForm(std::string form)
{
    NS_ABORT_MSG_IF(form != "fluid" && form != "packet",
                    "FlowSource: Form is '" << form << "', expected one of: fluid, packet");
    m_form = form == "packet" ? weir::FlowForm::Packets : weir::FlowForm::Fluid;
}

uint32_t
FlowSource::GetSource() const
{
    const Ptr<GpuServer> server = GetNode() ? GetNode()->GetObject<GpuServer>() : nullptr;
    NS_ABORT_MSG_IF(!server, "FlowSource: its node is not a server of a cluster");
    return server->GetGpu(m_gpu);
}

uint64_t
FlowSource::Send(uint32_t destination, uint64_t bytes)
{
    NS_LOG_FUNCTION(this << destination << bytes);
    const uint32_t source = GetSource();
    const Ptr<FluidFabric> fabric = GetNode()->GetObject<GpuServer>()->GetFabric();
    const Flow flow{destination, bytes, fabric->GetDriver()->Synchronize()};
    m_started++;
    const auto self = Ptr<FlowSource>(this);
    return fabric->StartFlow(
        source,
        destination,
        bytes,
        FluidFabric::FlowCallback([self, flow](uint64_t number) { self->Finish(flow, number); }),
        m_form);
}

void
FlowSource::Finish(Flow flow, uint64_t number)
{
    NS_LOG_FUNCTION(this << number);
    m_finished++;
    if (!GetNode())
    {
        return; // the simulator is being destroyed
    }
    const Ptr<FluidFabric> fabric = GetNode()->GetObject<GpuServer>()->GetFabric();
    m_flowFinished(GetSource(),
                   flow.destination,
                   flow.bytes,
                   flow.started,
                   fabric->GetDriver()->Synchronize());
}

void
FlowSource::StartApplication()
{
    NS_LOG_FUNCTION(this);
    if (!m_receivers.empty())
    {
        NS_ABORT_MSG_IF(!m_size || !m_pause,
                        "FlowSource: found no " << (m_size ? "Interval" : "Size")
                                                << ", expected a random variable");
        SendNext();
    }
}

void
FlowSource::StopApplication()
{
    NS_LOG_FUNCTION(this);
    Simulator::Cancel(m_next);
}

void
FlowSource::SendNext()
{
    const auto last = static_cast<uint32_t>(m_receivers.size() - 1);
    const uint32_t destination = m_receivers[m_pick->GetInteger(0, last)];
    const double bytes = std::round(m_size->GetValue());
    NS_ABORT_MSG_IF(!(bytes < MAX_BYTES),
                    "FlowSource: found a Size of " << bytes << " bytes, expected less than 2^63");
    Send(destination, bytes > 0 ? static_cast<uint64_t>(bytes) : 0);
    m_scheduled++;
    if (m_maxFlows == 0 || m_scheduled < m_maxFlows)
    {
        const double pause = m_pause->GetValue();
        NS_ABORT_MSG_IF(!(pause >= 0),
                        "FlowSource: found an Interval of " << pause << " s, expected 0 or more");
        const Time wait = Seconds(pause);
        m_zeroIntervals = wait.IsZero() ? m_zeroIntervals + 1 : 0;
        NS_ABORT_MSG_IF(
            m_maxFlows == 0 && m_zeroIntervals >= MAX_ZERO_INTERVALS,
            "FlowSource: found "
                << m_zeroIntervals
                << " consecutive Intervals of 0 s, expected a positive Interval, or MaxFlows");
        m_next = Simulator::Schedule(wait, &FlowSource::SendNext, this);
    }
}

int64_t
FlowSource::AssignStreams(int64_t stream)
{
    NS_ABORT_MSG_IF(!m_size || !m_pause,
                    "FlowSource: found no " << (m_size ? "Interval" : "Size")
                                            << ", expected a random variable");
    m_pick->SetStream(stream);
    m_size->SetStream(stream + 1);
    m_pause->SetStream(stream + 2);
    return 3;
}

} // namespace ns3
