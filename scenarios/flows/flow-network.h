// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_FLOW_NETWORK_H
#define WEIR_SCENARIOS_FLOWS_FLOW_NETWORK_H

#include "fabric/fabric.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/transport.h"
#include "scenarios/catalog.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/simulation.h"
#include "scenarios/traffic/traffic-pattern.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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

/** The network that flows run on: numbered end points, routes between them, and the transport. */
class FlowNetwork
{
  public:
    virtual ~FlowNetwork() = default;

    /** The kind of end points in messages: "host" or "GPU". */
    virtual const char* EndPointName() const = 0;

    /** What is expected instead of @p node: "a host from 0 to 319"; empty if it is an end point. */
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

    std::size_t EndPointCount() const
    {
        return EndPoints().size();
    }

    /** The simulation that flows run in. */
    Simulation& GetSimulation()
    {
        return *m_simulation;
    }

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

    /** Notes on values of the network's file that it does not have. */
    const std::vector<std::string>& Notes() const
    {
        return m_notes;
    }

    void SetNotes(std::vector<std::string> notes)
    {
        m_notes = std::move(notes);
    }

  protected:
    explicit FlowNetwork(std::unique_ptr<Simulation> simulation)
        : m_simulation(std::move(simulation))
    {
    }

    const Simulation& GetSimulation() const
    {
        return *m_simulation;
    }

  private:
    std::unique_ptr<Simulation> m_simulation;
    std::vector<EventSpec> m_events;
    std::vector<std::string> m_notes;
};

/**
 * The network of a topology file (HPCC's, htsim's, or a graph): end points are its hosts, by the
 * file's node numbers; those of a graph are counted from 0 in the order of the file.
 *
 * A flow takes a shortest path by hops. Among equal-cost paths switches choose according to the
 * routing: by the hash of the flow's addresses, ports and priority group, by load when it starts,
 * or for each packet.
 */
class HostNetwork : public FlowNetwork
{
  public:
    /**
     * @param topology with hosts and switches in the order of their numbers
     * @param fabric of which routing, hash seed and flowlet gap are used; the seed changes the
     *        choice among equal-cost paths
     */
    explicit HostNetwork(Topology topology,
                         const FabricSpec& fabric = FabricSpec(),
                         TransportSpec transport = {});

    const char* EndPointName() const override;
    std::string WhyNoEndPoint(int64_t node) const override;
    std::vector<uint32_t> EndPoints() const override;
    TrafficEndPoint EndPointAt(uint32_t node) const override;
    RouteId FindRoute(uint32_t source, uint32_t destination, const FlowPorts& ports) override;
};

/** Values that override those of the topology. */
struct NetworkOverrides
{
    std::optional<uint32_t> nodes;    //!< of a system
    std::optional<uint64_t> hashSeed; //!< of the switches' ECMP hashes
    std::string routing; //!< by name, as `fabric.routing`; empty: the topology's, or ECMP
    TransportSpec transport{};
    std::vector<EventSpec> events{};     //!< events on the network
    std::vector<std::string> settings{}; //!< key.path=value, of a system
};

/** Whether @p topology names a system, by path or in the catalog. */
bool IsSystem(const std::string& topology);

/**
 * Opens the network that @p topology names: a path that ends in .yaml or .yml is a system, one in
 * .topo an htsim fat tree, any other file an HPCC topology, and a name without a file a system of
 * the catalog.
 * @throws InputError when it is none of these, has errors, or cannot be wired.
 * @throws std::invalid_argument that names a key of the packets that this network cannot have
 *         (IsOfPackets).
 */
std::unique_ptr<FlowNetwork> OpenNetwork(const std::string& topology,
                                         const NetworkOverrides& overrides,
                                         const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_FLOW_NETWORK_H
