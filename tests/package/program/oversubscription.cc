// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//         spines                 fewer links up than down: ratio in system.yaml
//        |      |
//     leaf 0 .. leaf 3           two servers each
//      | |      | |
//     server 0 .. server 7       of Weir's catalog (hgx-h100): eight GPUs, eight NICs
//
// One all-reduce over all GPUs, in an ns-3 program built outside Weir's tree against an installed
// package (find_package(weir)). Its system file overrides a system of the package's catalog.
//
// Try: oversubscription --system=system.yaml --fidelity=flow

#include "ns3/cluster-helper.h"
#include "ns3/collective-helper.h"
#include "ns3/command-line.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include "scenarios/catalog.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/yaml/input-error.h"

#include <cstdio>
#include <iostream>

using namespace ns3;

/** Prints a call when it ends. */
void
PrintCall(uint32_t call, const weir::CollectivePlan& plan, weir::Time started, weir::Time now)
{
    std::printf("all-reduce of %lld bytes: %.3f us\n",
                static_cast<long long>(plan.call.bytes.Count()),
                (now - started).ToMicroseconds());
}

int
main(int argc, char* argv[])
{
    std::string file = "system.yaml";
    std::string fidelity = "stream";
    CommandLine cmd(__FILE__);
    cmd.AddValue("system", "YAML file of the cluster", file);
    cmd.AddValue("fidelity", "analytical, stream or flow", fidelity);
    cmd.Parse(argc, argv);

    try
    {
        const auto system = weir::ReadSystem(weir::YamlNode::Load(file), weir::Catalog());
        ClusterHelper clusterHelper(system.cluster);
        ClusterContainer cluster = clusterHelper.Install(8);
        CollectiveHelper collectiveHelper("all-reduce", 256 << 20);
        collectiveHelper.SetAttribute("Fidelity", StringValue(fidelity));
        Ptr<CollectiveJob> job = collectiveHelper.Install(cluster);
        job->TraceConnectWithoutContext("CollectiveFinished", MakeCallback(&PrintCall));
        Simulator::Run();
        Simulator::Destroy();
    }
    catch (const weir::InputError& error)
    {
        std::cerr << error.what() << "\n";
        return 2;
    }
    return 0;
}
