// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/hybrid-agreement.h"

#include "fabric/kinds/graph-fabric.h"
#include "fabric/routing/flow-hash.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/make-transport.h"
#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "scenarios/validation/error-statistics.h"
#include "scenarios/validation/leaf-spine-topology.h"

#include <cmath>
#include <cstdio>
#include <optional>

namespace weir
{

namespace
{

constexpr uint32_t LEAVES = 4;
constexpr uint32_t SPINES = 4;
constexpr uint32_t HOSTS = 32;
constexpr uint32_t FLOWS = 240;
constexpr uint32_t EVERY = 4; //!< flow is of interest
constexpr uint64_t SEEDS = 6;
constexpr double MAX_BYTES = 2e6;
const Rate RATE = Rate::Gbps(100);
const Time LATENCY = Time::Microseconds(1);

/** In the order in which a sender is likely to meet them. */
constexpr const char* CONTROLS[] = {"none", "dcqcn", "hpcc", "swift"};

enum class Form
{
    Packets,
    Hybrid,
    Fluid
};

/** A flow that is yet to start. */
struct Arrival
{
    Time start;
    FlowRequest request;
};

/** Starts flows when they are due, and sums up how long they take. */
class Arrivals : public PassiveEngine, public FlowClient
{
  public:
    Arrivals(std::vector<Arrival> flows, Transport& transport)
        : m_flows(std::move(flows)),
          m_transport(transport)
    {
    }

    Time NextEventTime() override
    {
        return m_next < m_flows.size() ? m_flows[m_next].start : Time::Infinite();
    }

    void AdvanceTo(Time now) override
    {
        for (; m_next < m_flows.size() && m_flows[m_next].start <= now; m_next++)
        {
            FlowRequest request = m_flows[m_next].request;
            request.client = this;
            request.token = m_next;
            m_transport.Start(request, now);
        }
    }

    void OnFlowDone(uint64_t token, Time now) override
    {
        const double taken = (now - m_flows[token].start).ToSeconds();
        (token % EVERY == 0 ? ofInterest : ofRest) += taken;
    }

    double ofInterest{0};
    double ofRest{0};

  private:
    std::vector<Arrival> m_flows;
    Transport& m_transport;
    std::size_t m_next{0};
};

/** Sums of completion times, of interest and of the rest. */
struct Totals
{
    double ofInterest;
    double ofRest;
};

Totals
Play(Form form, const PacketSpec& packets, uint64_t seed)
{
    const Topology topology = LeafSpineTopology(HOSTS, LEAVES, SPINES, RATE, LATENCY);
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    Routing routing(topology, fabric);
    uint64_t state = SplitMix64(seed);
    const auto draw = [&state] {
        state += SPLIT_MIX_64_STEP;
        return static_cast<double>(SplitMix64(state) >> 11) * 0x1p-53;
    };
    // Half the load: each host's port has MAX_BYTES / 2 in twice the time that it takes.
    const double gap = MAX_BYTES / RATE.ToBytesPerSecond() / HOSTS;
    std::vector<Arrival> flows;
    double start = 0;
    for (uint32_t i = 0; i < FLOWS; i++)
    {
        start -= gap * std::log(1 - draw());
        RouteRequest route;
        const auto from = static_cast<uint32_t>(draw() * HOSTS);
        const auto step = 1 + static_cast<uint32_t>(draw() * (HOSTS - 1));
        route.source = route.outNic = DeviceId(from);
        route.destination = route.inNic = DeviceId((from + step) % HOSTS);
        route.sourcePort = static_cast<uint16_t>(i);
        Arrival flow;
        flow.start = Time::Seconds(start);
        flow.request.route = routing.Add(route);
        flow.request.bytes = Bytes(1 + static_cast<int64_t>(draw() * MAX_BYTES));
        flow.request.form = i % EVERY == 0 ? FlowForm::Packets : FlowForm::Fluid;
        flows.push_back(flow);
    }
    const auto transport =
        MakeTransport(routing,
                      {form == Form::Fluid ? std::nullopt : std::optional(packets),
                       form == Form::Hybrid ? std::optional(CouplingSpec()) : std::nullopt});
    Arrivals arrivals(std::move(flows), *transport);
    EngineSet engines;
    engines.Add(*transport);
    engines.Add(arrivals);
    engines.RunToEnd();
    return {arrivals.ofInterest, arrivals.ofRest};
}

HybridPoint
Compare(const std::string& control, uint64_t seed)
{
    constexpr double OF_INTEREST = FLOWS / EVERY;
    constexpr double OF_REST = FLOWS - FLOWS / EVERY;
    PacketSpec packets;
    packets.congestionControl = *CongestionControls().Find(control);
    packets.format.header = 0; // the fluid has none
    const Totals all = Play(Form::Packets, packets, seed);
    const Totals some = Play(Form::Hybrid, packets, seed);
    const Totals none = Play(Form::Fluid, packets, seed);
    HybridPoint point;
    point.control = control;
    point.seed = seed;
    point.packets = all.ofInterest / OF_INTEREST;
    point.hybrid = some.ofInterest / OF_INTEREST;
    point.fluid = none.ofInterest / OF_INTEREST;
    point.packetsOfRest = all.ofRest / OF_REST;
    point.hybridOfRest = some.ofRest / OF_REST;
    return point;
}

} // namespace

std::vector<HybridPoint>
CompareHybrid(const ShowSuite& progress)
{
    std::vector<HybridPoint> points;
    for (const char* control : CONTROLS)
    {
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
        {
            points.push_back(Compare(control, seed));
            progress({points.size(), std::size(CONTROLS) * SEEDS, "flows of interest"});
        }
    }
    return points;
}

std::string
ToText(const std::vector<HybridPoint>& points)
{
    std::string text =
        "Mean completion times against all flows as packets, every fourth flow of "
        "interest:\n\n";
    char line[160];
    std::snprintf(line,
                  sizeof line,
                  "  %-10s %14s %14s %14s\n",
                  "control",
                  "as packets",
                  "the rest",
                  "no packets");
    text += line;
    for (const char* control : CONTROLS)
    {
        double hybrid = 0;
        double rest = 0;
        double fluid = 0;
        double count = 0;
        for (const HybridPoint& point : points)
        {
            if (point.control == control)
            {
                hybrid += point.hybrid / point.packets - 1;
                rest += point.hybridOfRest / point.packetsOfRest - 1;
                fluid += point.fluid / point.packets - 1;
                count++;
            }
        }
        std::snprintf(line,
                      sizeof line,
                      "  %-10s %14s %14s %14s\n",
                      control,
                      SignedPercent(hybrid / count).c_str(),
                      SignedPercent(rest / count).c_str(),
                      SignedPercent(fluid / count).c_str());
        text += line;
    }
    return text +
           "\nThe rest is a fluid, which shares links at once and evenly: it knows nothing "
           "of what a\ncongestion control makes of its share, nor of queues.\n";
}

std::vector<CaseOutcome>
CasesOf(const std::vector<HybridPoint>& points)
{
    std::vector<CaseOutcome> cases;
    for (const HybridPoint& point : points)
    {
        const std::string name = point.control + ", seed " + std::to_string(point.seed);
        cases.push_back({name, {"packets", point.control}, point.packets, point.hybrid});
        cases.push_back({name + ", the rest", {"rest"}, point.packetsOfRest, point.hybridOfRest});
        cases.push_back({name + ", no packets", {"fluid"}, point.packets, point.fluid});
    }
    return cases;
}

} // namespace weir
