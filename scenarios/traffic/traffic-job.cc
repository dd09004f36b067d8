// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traffic/traffic-job.h"

#include "scenarios/results/link-series.h"
#include "scenarios/yaml/mapped.h"

#include <utility>

namespace weir
{

TrafficJob::TrafficJob(std::string name,
                       const TrafficSpec& spec,
                       std::vector<GpuId> gpus,
                       FlowForm form,
                       Fabric& fabric,
                       Ended ended)
    : m_name(std::move(name)),
      m_spec(spec),
      m_gpus(std::move(gpus)),
      m_form(form),
      m_fabric(fabric),
      m_routes(fabric.GetCluster(), fabric.GetRouting()),
      m_ended(std::move(ended))
{
    m_pattern = MakeTrafficPattern(m_spec, EndPoints());
    m_next = m_pattern->Next();
    for (std::size_t i = 0; i < m_gpus.size(); i++)
    {
        m_routes.Find(m_gpus[i], m_gpus[(i + 1) % m_gpus.size()], 0); // throws if there is no path
    }
}

std::vector<TrafficEndPoint>
TrafficJob::EndPoints() const
{
    return Mapped<TrafficEndPoint>(m_gpus, [&](GpuId gpu) {
        return TrafficEndPoint{m_fabric.GetCluster().NodeOf(gpu), m_routes.NetworkRateOf(gpu)};
    });
}

double
TrafficJob::MinLinkBins(Time width)
{
    const auto pattern = MakeTrafficPattern(m_spec, EndPoints());
    double bins = 0;
    for (auto flow = pattern->Next(); flow && bins <= LinkSeries::MAX_BINS; flow = pattern->Next())
    {
        const RouteId route = m_routes.Find(m_gpus[flow->source], m_gpus[flow->destination], 0);
        bins += LinkSeries::MinBins(m_fabric.GetRouting(), route, flow->bytes, width);
    }
    return bins;
}

Time
TrafficJob::NextEventTime()
{
    return m_next ? m_next->start : Time::Infinite();
}

void
TrafficJob::AdvanceTo(Time now)
{
    while (m_next && m_next->start <= now)
    {
        StartNext(now);
    }
    if (!m_next && m_starts.empty() && !m_isStopped) // no flow was drawn within the duration
    {
        Stop();
        m_ended(now);
    }
}

void
TrafficJob::StartNext(Time now)
{
    CheckFlowCount(m_spec, static_cast<double>(m_starts.size()));
    const TrafficFlow flow = *m_next;
    m_next = m_pattern->Next();
    const GpuId from = m_gpus[flow.source];
    const GpuId to = m_gpus[flow.destination];
    FlowRequest request;
    request.route = m_routes.Find(from, to, uint32_t{m_ports.Next(from.Index(), to.Index())} << 16);
    request.bytes = flow.bytes;
    request.cap = flow.cap;
    request.form = m_form;
    request.client = this;
    request.token = m_starts.size();
    m_starts.push_back(now);
    m_ideals.emplace_back(); // a flow without links ends inside Start
    m_bytes += flow.bytes;
    Transport& transport = m_fabric.GetTransport();
    const FlowId id = transport.Start(request, now);
    const FlowPath taken = transport.CurrentPath(id); // switches with load balancing have chosen
    m_ideals[request.token] =
        transport.UncontendedTime(request, taken.unit == 1 ? taken.path : PathId());
}

void
TrafficJob::OnFlowDone(uint64_t token, Time now)
{
    const Time time = now - m_starts[token];
    m_times.push_back(time);
    m_slowdowns.push_back(m_ideals[token] > Time() ? time / m_ideals[token] : 1);
    m_done++;
    if (!m_isStopped)
    {
        m_ended(now);
    }
}

} // namespace weir
