// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_FLOW_RESULTS_H
#define WEIR_SCENARIOS_FLOWS_FLOW_RESULTS_H

#include "fabric/routing/routing.h"
#include "fabric/transport/transport.h"
#include "fabric/units.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace weir
{

/**
 * Flows and what became of them, in the order of their file: one column a value, 40 bytes a flow.
 * It is the only place that keeps a flow: read into it, played from it and written out of it.
 */
class FlowResults
{
  public:
    /** Makes room for so many flows, so that adding them moves none. */
    void Reserve(std::size_t flows);

    /** Adds a flow that has not ended. */
    void Add(uint32_t source, uint32_t destination, Bytes bytes, Time start, RouteId route);

    void SetFinish(std::size_t flow, Time finish)
    {
        m_finishes[flow] = finish;
    }

    /** What the flow takes instead of the planned path of its route. */
    void SetPath(std::size_t flow, PathId path)
    {
        m_paths.resize(m_routes.size());
        m_paths[flow] = path;
    }

    /** The flow is never faster. */
    void SetCap(std::size_t flow, Rate cap)
    {
        m_caps.resize(m_routes.size(), Rate::Infinite());
        m_caps[flow] = cap;
    }

    /** The flow's packets are of @p trafficClass, not of the first. */
    void SetClass(std::size_t flow, uint8_t trafficClass)
    {
        m_classes.resize(m_routes.size(), 1);
        m_classes[flow] = trafficClass;
    }

    /** The flow moves as packets, where others are a fluid. */
    void MoveAsPackets(std::size_t flow)
    {
        m_isPackets.resize(m_routes.size());
        m_isPackets[flow] = true;
    }

    /** What is asked of a transport for the flow, without client and token. */
    FlowRequest Request(std::size_t flow) const;

    Rate Cap(std::size_t flow) const
    {
        return flow < m_caps.size() ? m_caps[flow] : Rate::Infinite();
    }

    std::size_t Size() const
    {
        return m_starts.size();
    }

    uint32_t Source(std::size_t flow) const
    {
        return m_sources[flow];
    }

    uint32_t Destination(std::size_t flow) const
    {
        return m_destinations[flow];
    }

    Bytes GetBytes(std::size_t flow) const
    {
        return m_bytes[flow];
    }

    Time Start(std::size_t flow) const
    {
        return m_starts[flow];
    }

    RouteId Route(std::size_t flow) const
    {
        return m_routes[flow];
    }

    /** The path that SetPath gave, else the planned one. */
    PathId Path(std::size_t flow, const Routing& routing) const
    {
        return IsOnPlannedPath(flow) ? routing.PlannedPath(m_routes[flow]) : m_paths[flow];
    }

    /** Infinite when the flow has not ended. */
    Time Finish(std::size_t flow) const
    {
        return m_finishes[flow];
    }

    /** Flow completion time: from the start until the last byte has passed. */
    Time CompletionTime(std::size_t flow) const
    {
        return m_finishes[flow] - m_starts[flow];
    }

    /** What the flow takes alone on its path, as Transport::UncontendedTime says. */
    Time IdealTime(std::size_t flow, Transport& transport) const;

    /** CompletionTime over IdealTime; 1 where both are zero. */
    double Slowdown(std::size_t flow, Transport& transport) const;

    /** Whether no flow starts before the one in front of it. */
    bool IsSortedByStart() const;

  private:
    bool IsOnPlannedPath(std::size_t flow) const
    {
        return m_paths.empty() || !m_paths[flow].IsValid();
    }

    std::vector<uint32_t> m_sources;
    std::vector<uint32_t> m_destinations;
    std::vector<RouteId> m_routes;
    std::vector<PathId> m_paths;    //!< of flows on other paths than planned; empty: of none
    std::vector<Rate> m_caps;       //!< of the flows up to the last that has one
    std::vector<uint8_t> m_classes; //!< of the flows up to the last of another class than 1
    std::vector<bool> m_isPackets;  //!< by flow; empty: none is
    std::vector<Bytes> m_bytes;
    std::vector<Time> m_starts;
    std::vector<Time> m_finishes;
};

/**
 * Bins of @p width in which links have traffic of @p flows, at least. O(flows x links of a path).
 */
double LeastLinkBins(const FlowResults& flows, const Routing& routing, Time width);

/**
 * Writes flow,src,dst,bytes,start_s,finish_s,fct_s,ideal_fct_s,slowdown, a line a flow, to @p out.
 * Times are exact (whole picoseconds); a slowdown is the shortest decimal that reads back to it.
 */
void WriteFlowCsv(const FlowResults& results, Transport& transport, std::ostream& out);

/** As above, to @p file. @throws std::runtime_error when it cannot be written. */
void WriteFlowCsv(const FlowResults& results, Transport& transport, const std::string& file);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_FLOW_RESULTS_H
