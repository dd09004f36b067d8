// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_FLOW_NETWORK_H
#define WEIR_SCENARIOS_FLOWS_FLOW_NETWORK_H

#include "fabric/routing/routing.h"
#include "fabric/transport/transport.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/simulation.h"
#include "scenarios/traffic/traffic-pattern.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** Header fields of a flow that ECMP hashes in addition to its end points. */
struct FlowPorts
{
    uint16_t sourcePort{0};
    uint16_t destinationPort{0};
    uint16_t priorityGroup{0};
};

/**
 * The network that flows run on: numbered end points, the routes between them, and the transport.
 */
class FlowNetwork
{
  public:
    virtual ~FlowNetwork() = default;

    /** The kind of end points in messages: "host" or "GPU". */
    virtual const char* EndPointName() const = 0;

    virtual std::size_t EndPointCount() const = 0;

    /**
     * What is expected instead of @p node, which is not an end point: "a host from 0 to 319"; empty
     * when it is one.
     */
    virtual std::string WhyNoEndPoint(int64_t node) const = 0;

    /** The numbers of all end points, ascending. */
    virtual std::vector<uint32_t> EndPoints() const = 0;

    /** The node and the network rate of the end point with number @p node, for traffic patterns. */
    virtual TrafficEndPoint EndPointAt(uint32_t node) const = 0;

    /**
     * The route of a flow between two different end points.
     * @throws std::runtime_error when no path joins them; the message names both.
     */
    virtual RouteId FindRoute(uint32_t source, uint32_t destination, const FlowPorts& ports) = 0;

    /** The simulation that flows run in. */
    virtual Simulation& GetSimulation() = 0;

    /** Events on the network while flows run. */
    const std::vector<EventSpec>& Events() const
    {
        return m_events;
    }

    /** Adds events. */
    void AddEvents(const std::vector<EventSpec>& events)
    {
        m_events.insert(m_events.end(), events.begin(), events.end());
    }

    Routing& GetRouting()
    {
        return GetSimulation().GetRouting();
    }

    Transport& GetTransport()
    {
        return GetSimulation().GetTransport();
    }

  private:
    std::vector<EventSpec> m_events;
};

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_FLOW_NETWORK_H
