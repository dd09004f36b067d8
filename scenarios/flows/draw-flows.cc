// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/draw-flows.h"

#include "scenarios/traffic/source-ports.h"
#include "scenarios/yaml/input-error.h"

#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

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
DrawFlows(const std::vector<FileTraffic>& traffics, FlowNetwork& network)
{
    FlowResults flows;
    SourcePorts ports;
    for (const FileTraffic& traffic : traffics)
    {
        const std::vector<uint32_t> numbers = NumbersOf(traffic, network);
        std::vector<TrafficEndPoint> ends;
        for (const uint32_t number : numbers)
        {
            ends.push_back(network.EndPointAt(number));
        }
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

} // namespace weir
