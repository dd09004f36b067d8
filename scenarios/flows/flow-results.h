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
 * Flows and their results, in the order of their file: one column per value, 40 bytes per flow. The
 * only storage of flows: they are read into it, run from it and written from it.
 */
class FlowResults
{
  public:
    /** Reserves memory for @p flows flows. */
    void Reserve(std::size_t flows);

    /** Adds a flow, not yet finished. */
    void Add(uint32_t source, uint32_t destination, Bytes bytes, Time start, RouteId route);

    void SetFinish(std::size_t flow, Time finish)
    {
        m_finishes[flow] = finish;
    }

    /** Sets the path that the flow takes instead of the planned path of its route. */
    void SetPath(std::size_t flow, PathId path)
    {
        m_paths.resize(m_routes.size());
        m_paths[flow] = path;
    }

    /** Limits the rate of the flow to @p cap. */
    void SetCap(std::size_t flow, Rate cap)
    {
        m_caps.resize(m_routes.size(), Rate::Infinite());
        m_caps[flow] = cap;
    }

    /** Sets the traffic class of the flow's packets; the default is the first, 1. */
    void SetClass(std::size_t flow, uint8_t trafficClass)
    {
        m_classes.resize(m_routes.size(), 1);
        m_classes[flow] = trafficClass;
    }

    /** Makes the flow move as packets, where others are a fluid. */
    void MoveAsPackets(std::size_t flow)
    {
        m_isPackets.resize(m_routes.size());
        m_isPackets[flow] = true;
    }

    /** The transport request of the flow, without client and token. */
    FlowRequest Request(std::size_t flow) const;

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

    /** The path set by SetPath, else the planned one. */
    PathId Path(std::size_t flow, const Routing& routing) const
    {
        return IsOnPlannedPath(flow) ? routing.PlannedPath(m_routes[flow]) : m_paths[flow];
    }

    /** The finish time; infinite when the flow has not ended. */
    Time Finish(std::size_t flow) const
    {
        return m_finishes[flow];
    }

    /** Flow completion time: from the start until the last byte has arrived. */
    Time CompletionTime(std::size_t flow) const
    {
        return m_finishes[flow] - m_starts[flow];
    }

    /** Flow completion time in isolation on its path, by Transport::UncontendedTime. */
    Time IdealTime(std::size_t flow, Transport& transport) const;

    /** CompletionTime over IdealTime; 1 where both are zero. */
    double Slowdown(std::size_t flow, Transport& transport) const;

    /** Whether flows are in the order of their starts. */
    bool IsSortedByStart() const;

  private:
    bool IsOnPlannedPath(std::size_t flow) const
    {
        return m_paths.empty() || !m_paths[flow].IsValid();
    }

    std::vector<uint32_t> m_sources;
    std::vector<uint32_t> m_destinations;
    std::vector<RouteId> m_routes;
    std::vector<PathId> m_paths;    //!< of flows on other than planned paths; empty: none
    std::vector<Rate> m_caps;       //!< up to the last flow that has one
    std::vector<uint8_t> m_classes; //!< up to the last flow of a class other than 1
    std::vector<bool> m_isPackets;  //!< by flow; empty: none
    std::vector<Bytes> m_bytes;
    std::vector<Time> m_starts;
    std::vector<Time> m_finishes;
};

/** Lower bound on the bins of @p width with link traffic of @p flows. O(flows x links a path). */
double MinLinkBins(const FlowResults& flows, const Routing& routing, Time width);

/**
 * Writes flow,src,dst,bytes,start_s,finish_s,fct_s,ideal_fct_s,slowdown, one line per finished
 * flow, to @p out. Times are exact (whole picoseconds); a slowdown is the shortest decimal that
 * reads back exactly.
 */
void WriteFlowCsv(const FlowResults& results, Transport& transport, std::ostream& out);

/** As above, to @p file. @throws std::runtime_error when it cannot be written. */
void WriteFlowCsv(const FlowResults& results, Transport& transport, const std::string& file);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_FLOW_RESULTS_H
