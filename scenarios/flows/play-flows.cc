// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/play-flows.h"

#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/traffic/source-ports.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/quantity.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr std::size_t MAX_FLOWS = std::numeric_limits<uint32_t>::max();

void
CheckEndPoint(const FlowFile& file, const FlowNetwork& network, const char* name, int64_t node)
{
    const std::string expected = network.WhyNoEndPoint(node);
    if (!expected.empty())
    {
        throw file.Refusal(name, node, expected);
    }
}

RouteId
FindRoute(const FlowFile& file, FlowNetwork& network, const FlowRow& row, const FlowPorts& ports)
{
    try
    {
        return network.FindRoute(
            static_cast<uint32_t>(row.source), static_cast<uint32_t>(row.destination), ports);
    }
    catch (const std::runtime_error& error)
    {
        throw file.Error(std::string("flow: found ") + error.what() +
                         ", expected end points that links connect");
    }
}

/** Refuses a flow that even in isolation would not end within the range of Time. */
void
CheckEnd(const FlowFile& file, FlowNetwork& network, const FlowRow& row, RouteId route)
{
    const auto isEndless = [&row](Rate rate) { // links without a rate may get one later
        return rate > Rate() && (row.start + row.bytes / rate).IsInfinite();
    };
    if (!isEndless(network.GetRouting().BottleneckRate(route)))
    {
        return;
    }
    const Rate rate = network.GetRouting().UncontendedRate(route);
    if (isEndless(rate))
    {
        throw file.Refusal("bytes",
                           row.bytes.Count(),
                           "fewer: at " + FormatRate(rate) +
                               " they take longer than the maximum simulated time of 106 days");
    }
}

/** Starts every flow at its time and records when it ends. */
class FlowPlayer : public PassiveEngine, public FlowClient, public TransportObserver
{
  public:
    FlowPlayer(FlowResults& flows, FlowNetwork& network)
        : m_flows(flows),
          m_routing(network.GetRouting()),
          m_transport(network.GetTransport())
    {
        m_transport.AddObserver(*this, false);
        if (!flows.IsSortedByStart())
        {
            m_order.resize(flows.Size());
            std::iota(m_order.begin(), m_order.end(), 0);
            std::stable_sort(m_order.begin(), m_order.end(), [&](uint32_t a, uint32_t b) {
                return flows.Start(a) < flows.Start(b);
            });
        }
    }

    ~FlowPlayer() override
    {
        m_transport.RemoveObserver(*this);
    }

    Time NextEventTime() override
    {
        return m_started < m_flows.Size() ? m_flows.Start(Next()) : Time::Infinite();
    }

    void AdvanceTo(Time now) override
    {
        for (; m_started < m_flows.Size() && m_flows.Start(Next()) <= now; m_started++)
        {
            const std::size_t flow = Next();
            FlowRequest request = m_flows.Request(flow);
            request.client = this;
            request.token = flow;
            m_transport.Start(request, now);
            m_maxActive = std::max(m_maxActive, m_started + 1 - m_done);
        }
    }

    /** Records the actual path: load-aware switches choose it only after the flow has started. */
    void OnFlowFinished(FlowId id, const FlowRequest& request, Time, Time) override
    {
        const FlowPath taken = m_transport.CurrentPath(id);
        if (taken.unit == 1 && taken.path != m_routing.PlannedPath(request.route))
        {
            m_flows.SetPath(request.token, taken.path);
        }
    }

    void OnFlowDone(uint64_t token, Time now) override
    {
        m_flows.SetFinish(token, now);
        m_done++;
    }

    bool IsFinished() const
    {
        return m_done == m_flows.Size();
    }

    double DoneFraction() const
    {
        return m_flows.Size() == 0
                   ? 1
                   : static_cast<double>(m_done) / static_cast<double>(m_flows.Size());
    }

    uint64_t MaxActive() const
    {
        return m_maxActive;
    }

  private:
    std::size_t Next() const
    {
        return m_order.empty() ? m_started : m_order[m_started];
    }

    FlowResults& m_flows;
    const Routing& m_routing;
    Transport& m_transport;
    std::vector<uint32_t> m_order; //!< flows by start; empty when already in that order
    std::size_t m_started{0};
    std::size_t m_done{0};
    uint64_t m_maxActive{0};
};

/** The numbers, in the network, of the pattern's end points, by their index in the pattern. */
std::vector<uint32_t>
NumbersOf(const FileTraffic& traffic, const FlowNetwork& network)
{
    if (traffic.endPoints.empty())
    {
        return network.EndPoints();
    }
    for (const uint32_t number : traffic.endPoints)
    {
        const std::string expected = network.WhyNoEndPoint(number);
        if (!expected.empty())
        {
            throw InputError(traffic.where + ": found " + std::to_string(number) + ", expected " +
                             expected);
        }
    }
    return traffic.endPoints;
}

} // namespace

FlowResults
ReadFlows(FlowFile& file, FlowNetwork& network, uint32_t trafficClasses)
{
    file.CheckEndPoints(network.EndPointCount(), network.EndPointName());
    FlowResults flows;
    flows.Reserve(file.ExpectedFlows());
    SourcePorts sourcePorts;
    for (FlowRow row; file.Next(row);)
    {
        CheckEndPoint(file, network, "src", row.source);
        CheckEndPoint(file, network, "dst", row.destination);
        if (row.source == row.destination)
        {
            throw file.Refusal("dst",
                               row.destination,
                               std::string("another ") + network.EndPointName() + " than src");
        }
        if (flows.Size() == MAX_FLOWS)
        {
            throw file.Error("found one more flow, expected at most " + std::to_string(MAX_FLOWS));
        }
        const auto source = static_cast<uint32_t>(row.source);
        const auto destination = static_cast<uint32_t>(row.destination);
        const FlowPorts ports{
            sourcePorts.Next(source, destination), row.destinationPort, row.priorityGroup};
        const RouteId route = FindRoute(file, network, row, ports);
        CheckEnd(file, network, row, route);
        flows.Add(source, destination, row.bytes, row.start, route);
        if (trafficClasses > 1 && row.priorityGroup > trafficClasses)
        {
            throw file.Refusal("pg",
                               row.priorityGroup,
                               "one of the " + std::to_string(trafficClasses) +
                                   " trafficClasses, from 1 on, or 0: the first");
        }
        if (trafficClasses > 1 && row.priorityGroup > 1)
        {
            flows.SetClass(flows.Size() - 1, static_cast<uint8_t>(row.priorityGroup));
        }
    }
    return flows;
}

FlowResults
DrawFlows(const std::vector<FileTraffic>& traffics, FlowNetwork& network)
{
    FlowResults flows;
    SourcePorts ports;
    for (const FileTraffic& traffic : traffics)
    {
        const std::vector<uint32_t> numbers = NumbersOf(traffic, network);
        const auto ends = Mapped<TrafficEndPoint>(
            numbers, [&](uint32_t number) { return network.EndPointAt(number); });
        const auto pattern = MakeTrafficPattern(traffic.spec, ends);
        CheckFlowCount(traffic.spec,
                       static_cast<double>(flows.Size()) + MeanFlowCount(traffic.spec, ends));
        while (const std::optional<TrafficFlow> flow = pattern->Next())
        {
            const uint32_t source = numbers[flow->source];
            const uint32_t destination = numbers[flow->destination];
            try
            {
                const RouteId route =
                    network.FindRoute(source, destination, {ports.Next(source, destination), 0, 0});
                flows.Add(source, destination, flow->bytes, flow->start, route);
            }
            catch (const std::runtime_error& error)
            {
                throw InputError(traffic.spec.where + ": found " + error.what() +
                                 ", expected end points that links connect");
            }
            if (!flow->cap.IsInfinite())
            {
                flows.SetCap(flows.Size() - 1, flow->cap);
            }
        }
    }
    return flows;
}

void
FlowSelection::Apply(FlowResults& results) const
{
    const auto mark = [&](const auto& ranges, const char* what, const auto& numberOf) {
        for (const NumberRange& range : ranges)
        {
            bool isAny = false;
            for (std::size_t flow = 0; flow < results.Size(); flow++)
            {
                const uint32_t number = numberOf(flow);
                if (number >= range.first && number <= range.last)
                {
                    results.MoveAsPackets(flow);
                    isAny = true;
                }
            }
            if (!isAny)
            {
                const std::string first = std::to_string(range.first);
                const std::string last = std::to_string(range.last);
                throw InputError(range.where + ": found '" +
                                 (range.first == range.last ? first : first + "-" + last) +
                                 "', expected " + what + " of the flows, of which there are " +
                                 std::to_string(results.Size()));
            }
        }
    };
    mark(flows, "numbers", [](std::size_t flow) { return static_cast<uint32_t>(flow); });
    mark(sources, "sources", [&](std::size_t flow) { return results.Source(flow); });
    mark(destinations, "destinations", [&](std::size_t flow) { return results.Destination(flow); });
    for (std::size_t flow = 0; below && flow < results.Size(); flow++)
    {
        if (results.GetBytes(flow) < *below)
        {
            results.MoveAsPackets(flow);
        }
    }
}

FlowSelection
ReadFlowSelection(const YamlNode& packets)
{
    packets.CheckKeys(YamlKeysOf("network.packets (weir flows)"));
    FlowSelection selection;
    packets.Read("flows", selection.flows, ReadNumberRanges);
    packets.Read("sources", selection.sources, ReadNumberRanges);
    packets.Read("destinations", selection.destinations, ReadNumberRanges);
    packets.Read("below", selection.below, &YamlNode::AsSizeAboveZero);
    packets.Read("links", selection.links, ReadLinkNames);
    return selection;
}

FlowRun
PlayFlows(FlowResults& flows,
          FlowNetwork& network,
          EngineLoop& loop,
          const std::function<void(const RunProgress&)>& progress)
{
    Simulation& simulation = network.GetSimulation();
    auto own = std::make_unique<FlowPlayer>(flows, network);
    FlowPlayer& player = *own;
    simulation.AddTraffic(std::move(own), "flows");
    ConvertErrors("--network", [&] {
        simulation.AddEvents(network.Events(), [&player] { return player.IsFinished(); });
    });
    EngineSet& engines = simulation.Engines();
    try
    {
        loop.Run(engines, [&](Time now) { progress({now, player.DoneFraction()}); });
    }
    catch (const RunStopped&)
    {
        return {engines.Instants(), player.MaxActive(), true};
    }
    for (std::size_t flow = 0; flow < flows.Size(); flow++)
    {
        if (flows.Finish(flow).IsInfinite())
        {
            const std::string waiting = simulation.DescribeStuckLinks();
            throw std::runtime_error(
                (waiting.empty() ? "" : waiting + "; ") + "flow " + std::to_string(flow) + " (" +
                std::to_string(flows.Source(flow)) + " to " +
                std::to_string(flows.Destination(flow)) + ") does not end" +
                (waiting.empty() ? " within the maximum simulated time of 106 days" : ""));
        }
    }
    return {engines.Instants(), player.MaxActive(), false};
}

} // namespace weir
