// SPDX-License-Identifier: GPL-2.0-only
#include "fluid-workload.h"

#include <simgrid/s4u.hpp>

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

/** Builds the workload's links and routes: shared links, no loopback, only the pairs in use. */
std::vector<sg::Host*>
BuildPlatform(const Workload& w)
{
    auto* zone = sg::create_full_zone("fabric");
    std::vector<sg::Host*> hosts;
    for (uint32_t i = 0; i < w.ranks; i++)
    {
        hosts.push_back(zone->create_host("h" + std::to_string(i), 1e9)->seal());
    }
    std::vector<sg::Link*> links;
    for (std::size_t i = 0; i < w.links.size(); i++)
    {
        links.push_back(zone->create_link("l" + std::to_string(i), w.links[i].bytesPerSecond)
                            ->set_latency(w.links[i].latency)
                            ->seal());
    }
    std::set<std::pair<uint32_t, uint32_t>> known;
    for (const auto& flow : w.flows)
    {
        if (known.insert({flow.source, flow.destination}).second)
        {
            std::vector<sg::LinkInRoute> route;
            for (uint32_t link : w.Route(flow.source, flow.destination))
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
                     "prints: flows,cpu_s,bytes_per_flow,peak_bytes,makespan_s\n",
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
        const Workload w = MakeWorkload(argv[1],
                                        argv[2],
                                        std::strtoul(argv[3], nullptr, 10),
                                        argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1);
        const double bytesBefore = PeakBytes();
        const auto hosts = BuildPlatform(w);
        const double before = CpuSeconds(); // without the routes: Weir's paths are counted
        std::vector<sg::CommPtr> comms;
        comms.reserve(w.flows.size());
        for (const auto& flow : w.flows)
        {
            comms.push_back(sg::Comm::sendto_init(hosts[flow.source], hosts[flow.destination])
                                ->set_payload_size(static_cast<uint64_t>(flow.bytes)));
        }
        for (std::size_t i = 0; i < comms.size(); i++)
        {
            if (w.flows[i].next != WorkloadFlow::NONE)
            {
                comms[i]->add_successor(comms[w.flows[i].next]);
            }
        }
        for (auto& comm : comms)
        {
            comm->vetoable_start();
        }
        engine.run();
        const double cpu = CpuSeconds() - before;
        const double bytes = PeakBytes();
        std::vector<double> finish;
        double last = 0;
        for (const auto& comm : comms)
        {
            finish.push_back(comm->get_finish_time());
            last = std::max(last, finish.back());
        }
        std::printf("%zu,%.6f,%.0f,%.0f,%.12g\n",
                    w.flows.size(),
                    cpu,
                    (bytes - bytesBefore) / static_cast<double>(w.flows.size()),
                    bytes,
                    last);
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
