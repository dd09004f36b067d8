// SPDX-License-Identifier: GPL-2.0-only
#include "fluid-fabric.h"
#include "fluid-pattern.h"
#include "process-cost.h"

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>
#include <string>
#include <vector>

namespace
{

using namespace weir;
namespace sg = simgrid::s4u;

/** Builds links and routes: shared links, no loopback, only the pairs in use. */
std::vector<sg::Host*>
BuildPlatform(const FluidFabric& fabric, const FluidPattern& pattern, uint32_t ranks)
{
    auto* zone = sg::create_full_zone("fabric");
    std::vector<sg::Host*> hosts;
    for (uint32_t i = 0; i < ranks; i++)
    {
        hosts.push_back(zone->create_host("h" + std::to_string(i), 1e9)->seal());
    }
    std::vector<sg::Link*> links;
    for (const FluidLink& link : fabric.Links())
    {
        links.push_back(zone->create_link("l" + std::to_string(links.size()), link.bytesPerSecond)
                            ->set_latency(link.latency)
                            ->seal());
    }
    std::set<std::pair<uint32_t, uint32_t>> known;
    for (uint32_t i = 0; i < pattern.Count(); i++)
    {
        const FluidFlow flow = pattern.Flow(i);
        if (known.insert({flow.source, flow.destination}).second)
        {
            std::vector<sg::LinkInRoute> route;
            for (uint32_t link : fabric.Route(flow.source, flow.destination))
            {
                route.emplace_back(links[link]);
            }
            zone->add_route(hosts[flow.source]->get_netpoint(),
                            hosts[flow.destination]->get_netpoint(),
                            nullptr,
                            nullptr,
                            route,
                            false);
        }
    }
    zone->seal();
    return hosts;
}

/** One activity a flow, with its dependencies. */
std::vector<sg::CommPtr>
MakeComms(const FluidPattern& pattern, const std::vector<sg::Host*>& hosts)
{
    std::vector<sg::CommPtr> comms;
    comms.reserve(pattern.Count());
    for (uint32_t i = 0; i < pattern.Count(); i++)
    {
        const FluidFlow flow = pattern.Flow(i);
        comms.push_back(sg::Comm::sendto_init(hosts[flow.source], hosts[flow.destination])
                            ->set_payload_size(static_cast<uint64_t>(flow.bytes)));
    }
    std::vector<uint32_t> followers;
    for (uint32_t i = 0; i < pattern.Count(); i++)
    {
        followers.clear();
        pattern.AddFollowers(i, followers);
        for (const uint32_t follower : followers)
        {
            comms[i]->add_successor(comms[follower]);
        }
    }
    return comms;
}

/** Starts flows at time zero or when those that they wait for end, the others at their time. */
void
StartAll(const FluidPattern& pattern, const std::vector<sg::CommPtr>& comms, sg::Host* host)
{
    std::vector<uint32_t> later;
    for (uint32_t i = 0; i < comms.size(); i++)
    {
        if (pattern.Flow(i).start > 0)
        {
            later.push_back(i);
        }
        else
        {
            comms[i]->vetoable_start();
        }
    }
    if (!later.empty())
    {
        sg::Actor::create("starter", host, [&pattern, &comms, later] {
            for (const uint32_t flow : later)
            {
                sg::this_actor::sleep_until(pattern.Flow(flow).start);
                comms[flow]->start();
            }
        });
    }
}

} // namespace

int
main(int argc, char** argv)
{
    sg::Engine engine(&argc, argv);
    if (argc < 4 || argc > 7)
    {
        std::fprintf(stderr,
                     "usage: %s FABRIC PATTERN RANKS [SEED [FINISH-TIMES-OUT [Lazy|Full]]]\n"
                     "Lazy (SimGrid's default) re-solves what changed, Full everything.\n"
                     "prints: flows,cpu_s,peak_bytes,makespan_s\n",
                     argv[0]);
        return 2;
    }
    try
    {
        // CM02: latency plus max-min shares, without the corrections for TCP.
        sg::Engine::set_config("network/model:CM02");
        sg::Engine::set_config("network/latency-factor:1");
        sg::Engine::set_config("network/bandwidth-factor:1");
        sg::Engine::set_config("network/weight-S:0");
        sg::Engine::set_config("network/TCP-gamma:0");
        sg::Engine::set_config("network/crosstraffic:0");
        sg::Engine::set_config(std::string("network/optim:") + (argc > 6 ? argv[6] : "Lazy"));
        sg::Engine::set_config("surf/precision:1e-12");
        sg::Engine::set_config("maxmin/precision:1e-12");
        const auto ranks = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
        const auto pattern =
            MakePattern(argv[2], ranks, argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1);
        const FluidFabric fabric(argv[1], ranks);
        const auto hosts = BuildPlatform(fabric, *pattern, ranks);
        const double before = CpuSeconds(); // without the routes: Weir's paths are counted
        const auto comms = MakeComms(*pattern, hosts);
        StartAll(*pattern, comms, hosts[0]);
        engine.run();
        const double cpu = CpuSeconds() - before;
        std::vector<double> finish;
        double last = 0;
        for (const auto& comm : comms)
        {
            finish.push_back(comm->get_finish_time());
            last = std::max(last, finish.back());
        }
        std::printf("%u,%.6f,%.0f,%.12g\n", pattern->Count(), cpu, PeakBytes(), last);
        if (argc > 5)
        {
            WriteFinishTimes(argv[5], finish);
        }
        std::fflush(stdout);
        std::_Exit(0); // tearing millions of activities down is not part of the measurement
    }
    catch (const std::exception& e)
    {
        std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
        return 2;
    }
}
