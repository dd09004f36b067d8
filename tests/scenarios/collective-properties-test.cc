// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/simulation/wire-scenario.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

/**
 * @file
 * Properties of every collective: switches conserve bytes, the bytes follow from the operation,
 * times do not depend on the numbering of nodes, and doubled rates halve times except for latency.
 */
namespace weir
{
namespace
{

constexpr int64_t BYTES = int64_t{64} << 20;
constexpr uint32_t NODES = 4;
constexpr uint32_t RANKS = 32; // of H100
constexpr const char* FIDELITIES[] = {"stream", "flow"};
constexpr const char* OPS[] = {"all-reduce",
                               "all-gather",
                               "reduce-scatter",
                               "broadcast",
                               "reduce",
                               "all-to-all",
                               "gather",
                               "scatter"};

/** A single call on four nodes, simulated. */
struct Call
{
    Call(const std::string& fidelity,
         const std::string& collective,
         const std::string& job = "",
         const std::string& system = "")
        : scenario(ReadScenario(
              YamlNode::Parse("{system: {base: hgx-h100, nodes: " + std::to_string(NODES) + system +
                                  "}, jobs: [{name: a, collective: {" + collective +
                                  ", bytes: " + std::to_string(BYTES) + "B, calls: 1}" + job +
                                  "}], network: {fidelity: " + fidelity + "}}",
                              "run.yaml"),
              Catalog())),
          simulation(WireScenario(scenario))
    {
        PlainLoop().Run(simulation->Engines(), [](Time) {});
    }

    Time Takes() const
    {
        return RunScenario(scenario).collectives.at(0).calls.at(0);
    }

    /** Bytes on the links from devices of one kind to devices of another. */
    double Carried(DeviceKind from, DeviceKind to) const
    {
        double bytes = 0;
        const Topology& topology = simulation->GetTopology();
        for (std::size_t i = 0; i < topology.LinkCount(); i++)
        {
            const Link& link = topology.GetLink(LinkId(i));
            if (topology.GetDevice(link.from).kind == from &&
                topology.GetDevice(link.to).kind == to)
            {
                bytes += simulation->GetTransport().GetLinkUsage(LinkId(i)).bytes;
            }
        }
        return bytes;
    }

    Scenario scenario;
    std::unique_ptr<Simulation> simulation;
};

// For any algorithm that NCCL chooses, all bytes that enter a network switch leave it.
TEST(CollectiveProperties, SwitchesKeepNoBytes)
{
    for (const char* fidelity : FIDELITIES)
    {
        for (const char* op : OPS)
        {
            const Call call(fidelity, std::string("op: ") + op);
            const Topology& topology = call.simulation->GetTopology();
            std::vector<double> kept(topology.DeviceCount());
            double max = 0;
            for (std::size_t i = 0; i < topology.LinkCount(); i++)
            {
                const double bytes = call.simulation->GetTransport().GetLinkUsage(LinkId(i)).bytes;
                kept[topology.GetLink(LinkId(i)).to.Index()] += bytes;
                kept[topology.GetLink(LinkId(i)).from.Index()] -= bytes;
                max = std::max(max, bytes);
            }
            EXPECT_GT(max, 0) << op;
            for (std::size_t device = 0; device < kept.size(); device++)
            {
                const DeviceKind kind = topology.GetDevice(DeviceId(device)).kind;
                if (kind == DeviceKind::LeafSwitch || kind == DeviceKind::SpineSwitch)
                {
                    EXPECT_NEAR(kept[device], 0, 1 + 1e-9 * max) << fidelity << " " << op;
                }
            }
        }
    }
}

// With S bytes, n ranks and N nodes a ring has N network hops. Each carries (n - 1) / n of S in an
// all-gather and a reduce-scatter, twice that in an all-reduce. A broadcast omits the hop to its
// root, a reduction the hop from it. That is a network hop in the channels in which the root is at
// that end of its node; each of the n / N GPUs of a node is there in equally many channels. In an
// all-to-all every rank sends 1 / n of S to each of the n - n / N ranks of other nodes.
TEST(CollectiveProperties, TheNetworkCarriesWhatTheOperationNeeds)
{
    struct Case
    {
        const char* op;
        double messages; //!< in units of S bytes between nodes
    };

    const double part = double{RANKS - 1} / RANKS;
    for (const char* fidelity : FIDELITIES)
    {
        for (const Case& one : std::vector<Case>{{"all-gather, algorithm: ring", NODES * part},
                                                 {"reduce-scatter, algorithm: ring", NODES * part},
                                                 {"all-reduce, algorithm: ring", NODES * 2 * part},
                                                 {"broadcast", NODES - double{NODES} / RANKS},
                                                 {"reduce", NODES - double{NODES} / RANKS},
                                                 {"all-to-all", RANKS - double{RANKS} / NODES}})
        {
            const Call call(fidelity, std::string("op: ") + one.op + ", protocol: simple");
            const double expected = one.messages * BYTES;
            EXPECT_NEAR(call.Carried(DeviceKind::Nic, DeviceKind::LeafSwitch) / expected, 1, 1e-6)
                << fidelity << " " << one.op;
            EXPECT_NEAR(call.Carried(DeviceKind::LeafSwitch, DeviceKind::Nic) / expected, 1, 1e-6)
                << fidelity << " " << one.op;
        }
    }
}

// All nodes are attached to the same leaves, so only the names change.
TEST(CollectiveProperties, TimesDoNotKnowHowNodesAreNumbered)
{
    for (const char* fidelity : FIDELITIES)
    {
        for (const char* op : OPS)
        {
            const std::string collective = std::string("op: ") + op;
            const Time time = Call(fidelity, collective).Takes();
            const Time turned =
                Call(fidelity, collective, ", placement: {nodes: [2, 0, 3, 1]}").Takes();
            EXPECT_NEAR((turned - time).ToSeconds(), 0, 1e-9) << fidelity << " " << op;
        }
    }
}

// T = L + W / r: with rates r and 2 r, 2 T(2 r) - T(r) = L, which is a small part of a
// network-bound call of 64 MiB.
TEST(CollectiveProperties, DoubledRatesHalveTimesButForLatency)
{
    const auto at = [](const char* fidelity, const std::string& op, const std::string& rate) {
        return Call(fidelity,
                    "protocol: simple, " + op,
                    "",
                    ", node: {nic: {rate: " + rate + "}}, fabric: {link: {rate: " + rate + "}}")
            .Takes();
    };
    for (const char* fidelity : FIDELITIES)
    {
        for (const std::string op : {"op: all-gather, algorithm: ring", "op: all-to-all"})
        {
            const Time slow = at(fidelity, op, "10Gbps");
            const Time fast = at(fidelity, op, "20Gbps");
            const double latency = (2 * fast.ToSeconds() - slow.ToSeconds()) / slow.ToSeconds();
            EXPECT_GE(latency, 0) << fidelity << " " << op;
            EXPECT_LE(latency, 0.03) << fidelity << " " << op;
        }
    }
}

TEST(CollectiveProperties, TheSameCallTakesTheSameTime)
{
    for (const char* fidelity : FIDELITIES)
    {
        for (const char* op : OPS)
        {
            const std::string collective = std::string("op: ") + op;
            EXPECT_EQ(Call(fidelity, collective).Takes(), Call(fidelity, collective).Takes());
        }
    }
}

} // namespace
} // namespace weir
