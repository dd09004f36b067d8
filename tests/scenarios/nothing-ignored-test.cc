// SPDX-License-Identifier: GPL-2.0-only
#include "refusal.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/read-layer-table.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/topology/convert-topology.h"
#include "scratch-folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

/**
 * @file
 * A value in a file has an effect or is refused at its location. Values inherited from a base that
 * another choice makes ineffective are no error.
 */
namespace weir
{
namespace
{

NodeSpec
NodeOf(const std::string& text)
{
    return ReadSystem(YamlNode::Parse(text, "sys.yaml"), Catalog()).cluster.node;
}

std::string
Refusal(const std::string& text)
{
    return RefusalOf([&] { NodeOf(text); });
}

std::string
OverH100(const std::string& node)
{
    return Refusal("{base: hgx-h100, node: {" + node + "}}");
}

/** The refusal of a run, or its notes. */
std::string
SaidOf(const std::string& run)
{
    std::string notes;
    const std::string refusal = RefusalOf([&] {
        const Scenario scenario = ReadScenario(YamlNode::Parse(run, "run.yaml"), Catalog());
        for (const std::string& note : scenario.notes)
        {
            notes += note;
        }
    });
    return refusal + notes;
}

bool
Says(const std::string& message, const std::string& words)
{
    return message.find(words) != std::string::npos;
}

TEST(NothingIgnored, EverySystemOfTheCatalogHasAnEffectThroughout)
{
    const auto listed = Catalog().List(CatalogKind::Systems);
    EXPECT_FALSE(listed.empty());
    for (const CatalogEntry& system : listed)
    {
        EXPECT_EQ(Refusal(system.name), "");
    }
}

TEST(NothingIgnored, KeysOfAnotherWiringAreRefused)
{
    EXPECT_EQ(OverH100("nvlink: {linksPerPair: 4}"),
              "sys.yaml:1:48: node.nvlink.linksPerPair: found it beside wiring 'switched', "
              "expected linksPerGpu");
    EXPECT_TRUE(Says(OverH100("nvlink: {links: [[0, 1]]}"), "beside wiring 'switched'"));
    EXPECT_TRUE(Says(OverH100("nvlink: {wiring: mesh, linksPerPair: 2, linksPerGpu: 3}"),
                     "beside wiring 'mesh'"));
    EXPECT_TRUE(Says(OverH100("nvlink: {wiring: none, linksPerGpu: 3}"), "beside wiring 'none'"));
    EXPECT_TRUE(Says(OverH100("nvlink: {wiring: none, measured: 0.5}"), "has no effect here"));
    EXPECT_EQ(OverH100("nvlink: {wiring: none}"), ""); // the others are of the base
    EXPECT_EQ(OverH100("nvlink: {wiring: mesh, linksPerPair: 2}"), "");
}

TEST(NothingIgnored, WhatIsWrittenOverABaseIsWhatIsMeant)
{
    // polaris has linksPerPair: 4.
    const NodeSpec mesh = NodeOf("{base: polaris, node: {nvlink: {links: [[0, 1, 2]]}}}");
    ASSERT_EQ(mesh.meshLinks.size(), 1U);
    EXPECT_EQ(mesh.meshLinks[0].links, 2U);
    EXPECT_TRUE(Says(Refusal("{base: polaris, node: {nvlink: {links: [[0, 1]], linksPerPair: 2}}}"),
                     "found it beside `links`"));
    // Framing overrides an MTU, and vice versa.
    EXPECT_EQ(NodeOf("{base: hgx-h100, node: {nic: {framing: 0.5}}}").nic.framing, 0.5);
    const std::string mtu = "{base: hgx-h100, node: {nic: {framing: 0.5, mtu: 1024}}}";
    EXPECT_TRUE(Says(Refusal(mtu), "node.nic.mtu: found '1024', which has no effect here"));
    // hgx-b300 sets `uplink`.
    EXPECT_EQ(NodeOf("{base: hgx-b300, node: {pcie: {uplinkLanes: 8}}}").pcieUplink.rawRate,
              PcieRawRate(NodeOf("hgx-b300").pcie.rawRate == PcieRawRate(6, 16) ? 6 : 5, 8));
}

TEST(NothingIgnored, ASystemMeansTheSameAsABaseOfAnother)
{
    // dgx1-v100 has `links`, hgx-h100 generation and lanes of its PCIe, hgx-b300 `uplink`.
    const std::string systems[]{
        "{base: dgx1-v100, node: {gpus: 4, nic: {count: 2}, nvlink: {linksPerPair: 2}}}",
        "{base: hgx-h100, node: {pcie: {rate: 12GB/s}, nic: {framing: 0.5}}}",
        "{base: hgx-b300, node: {pcie: {uplinkLanes: 8}, nic: {transport: slingshot}}}"};
    const ScratchFolder folder;
    for (const std::string& system : systems)
    {
        const std::string path = folder / "mine.yaml";
        std::ofstream(path) << system;
        const NodeSpec itself = NodeOf(path);
        const std::string slot = "pcie: {generation: 5, lanes: 16, maxPayload: 256}";
        const NodeSpec over = NodeOf("{base: " + path + "}");
        EXPECT_EQ(over.meshLinks.size(), itself.meshLinks.size());
        EXPECT_EQ(over.pcie.rawRate, itself.pcie.rawRate);
        EXPECT_EQ(over.pcieUplink.rawRate, itself.pcieUplink.rawRate);
        EXPECT_EQ(over.nic.framing, itself.nic.framing);
        EXPECT_EQ(over.nic.measured, itself.nic.measured);
        // The file that is read last counts, not the one that is first in the chain.
        const NodeSpec again = NodeOf("{base: " + path + ", node: {" + slot + "}}");
        EXPECT_EQ(again.pcie.rawRate, PcieRawRate(5, 16));
    }
}

TEST(NothingIgnored, ATransportOverABaseBringsItsOwnFigures)
{
    // hgx-h100 has measured: 0.98, alps-gh200 measured: 0.946 and latency: 750ns, of their own
    // transports' ports.
    const TransportFigures efa = TransportOf(NetTransport::Efa, Catalog());
    for (const std::string base : {"hgx-h100", "alps-gh200"})
    {
        const LinkProfile port = NodeOf("{base: " + base + ", node: {nic: {transport: efa}}}").nic;
        EXPECT_EQ(port.measured, efa.port.measured);
        EXPECT_EQ(port.latency, efa.latency);
    }
    // What is written beside the transport counts.
    const LinkProfile port =
        NodeOf("{base: hgx-h100, node: {nic: {transport: efa, measured: 0.5, latency: 1us}}}").nic;
    EXPECT_EQ(port.measured, 0.5);
    EXPECT_EQ(port.latency, Time::Microseconds(1));
}

// A leaf of ten ports that holds the eight NICs of a node has two left for uplinks: 4 to 1.
TEST(NothingIgnored, AnOversubscriptionThatALeafCannotHaveIsNoted)
{
    const auto note = [](const std::string& system) {
        return SaidOf("{system: {base: hgx-h100, " + system +
                      "}, jobs: [{name: j, collective: {op: all-reduce, bytes: 1MiB, calls: 1}}]}");
    };
    const std::string leaf = "kind: leaf-spine, leafRadix: 10";
    EXPECT_EQ(note("nodes: 4, fabric: {" + leaf + ", oversubscription: 4}"), "");
    EXPECT_EQ(note("nodes: 4, fabric: {" + leaf + ", oversubscription: 5}"),
              "run.yaml:1:97: system.fabric.oversubscription: found '5', which is 4 here: the "
              "fullest leaf has 8 NICs and 2 uplinks");
    EXPECT_TRUE(Says(note("nodes: 4, fabric: {" + leaf + ", oversubscription: 16}"),
                     "which is 8 here: the fullest leaf has 8 NICs and 1 uplink"));
    // The 32 NICs of four nodes have room on one leaf of 64 ports.
    EXPECT_TRUE(Says(note("nodes: 4, fabric: {kind: leaf-spine, oversubscription: 4}"),
                     "which has no effect here: it needs more than one leaf"));
    EXPECT_EQ(note("nodes: 1, fabric: {" + leaf + ", oversubscription: 16}"), "");
}

TEST(NothingIgnored, PartsThatAreNotThereAreRefused)
{
    EXPECT_TRUE(Says(Refusal("{base: hgx-h100, fabric: {kind: none}, node: {nic: {count: 0, rate: "
                             "100Gbps}}}"),
                     "node.nic.rate"));
    EXPECT_TRUE(Says(OverH100("pcie: {switches: 0, uplinkLanes: 8}"), "node.pcie.uplinkLanes"));
    EXPECT_TRUE(Says(OverH100("sockets: {count: 1, rate: 9GB/s}"), "node.sockets.rate"));
    EXPECT_TRUE(Says(OverH100("pcie: {encoding: 0.5}"), "node.pcie.encoding"));
    EXPECT_TRUE(Says(OverH100("nic: {hostBridge: {rate: 9GB/s, latency: 0ns, source: s}}"),
                     "all NICs are on PCIe switches"));
}

TEST(NothingIgnored, KeysOfAnotherFabricAreRefusedHoweverTheKindIsGiven)
{
    const auto over = [](const char* base, const std::string& fabric) {
        return Refusal(std::string("{base: ") + base + ", fabric: {" + fabric + "}}");
    };
    EXPECT_TRUE(Says(over("hgx-h100", "groups: 4"), "'rail-optimized' do not have"));
    EXPECT_TRUE(Says(over("hgx-h100", "levels: 3"), "'rail-optimized' do not have"));
    EXPECT_TRUE(Says(over("alps-gh200", "oversubscription: 2"), "'dragonfly' do not have"));
    EXPECT_TRUE(Says(over("hgx-h100", "kind: none, sharp: true"), "'none' do not have"));
    EXPECT_TRUE(Says(over("hgx-h100", "flowletGap: 1us"), "beside routing 'ecmp'"));
    EXPECT_EQ(over("hgx-h100", "routing: flowlet, flowletGap: 1us"), "");
}

TEST(NothingIgnored, ARunSaysWhatOfItHasNoEffect)
{
    const std::string run =
        "system: {base: hgx-h100, nodes: 1}\n"
        "jobs:\n"
        "  - name: a\n"
        "    model: gpt-2\n"
        "    parallel: {data: 8, microBatch: 1, globalBatch: 8}\n";
    EXPECT_EQ(SaidOf(run), "");
    EXPECT_TRUE(Says(SaidOf(run + "    placment: packed\n"), "did you mean 'placement'?"));
    const auto parallel = [&](const std::string& keys) {
        std::string text = run;
        return SaidOf(text.replace(text.rfind('}'), 1, ", " + keys + "}"));
    };
    EXPECT_EQ(parallel("embeddings: {placement: rows}"),
              "run.yaml:5:80: jobs.0.parallel.embeddings.placement: found 'rows', which has no "
              "effect here: it needs a model with embedding tables");
    EXPECT_EQ(parallel("embeddings: {placement: tables}"), ""); // the default
    EXPECT_TRUE(Says(parallel("expertLoad: {imbalance: 2}"), "for a model without experts"));
}

/** Refusal or notes for `parallel: {@p keys}` of a job of GPT-2 on 8 GPUs. */
std::string
SaidOfPlan(const std::string& keys)
{
    const std::string text =
        "system: {base: hgx-h100, nodes: 1}\n"
        "jobs:\n"
        "  - name: a\n"
        "    model: {base: gpt-2, heads: 16, headDim: 64}\n"
        "    parallel: {" +
        keys + "}\n";
    return SaidOf(text);
}

// For each condition: a value whose condition is not met gets a note with its location and the
// condition. It gets none where the condition is met, and neither does the default value.
TEST(NothingIgnored, AValueOfAPlanNeedsWhatGivesItAnEffect)
{
    struct Case
    {
        const char* without; //!< a plan in which the value has no effect
        const char* with;    //!< ... and one in which it has
        const char* value;
        const char* typical;
        const char* key;
        const char* needs;
    };

    const std::vector<Case> cases{{"data: 8",
                                   "context: 2, data: 4",
                                   "contextExchange: all-gather",
                                   "contextExchange: ring",
                                   "contextExchange",
                                   "context above 1"},
                                  {"data: 8",
                                   "tensor: 2, data: 4",
                                   "sequenceParallel: true",
                                   "sequenceParallel: false",
                                   "sequenceParallel",
                                   "tensor above 1"},
                                  {"data: 8",
                                   "tensor: 2, data: 4",
                                   "overlapTensor: false",
                                   "overlapTensor: true",
                                   "overlapTensor",
                                   "tensor above 1"},
                                  {"tensor: 2, data: 4",
                                   "tensor: 2, data: 4, sequenceParallel: true",
                                   "splitGemms: true",
                                   "splitGemms: false",
                                   "splitGemms",
                                   "tensor above 1 with sequenceParallel"},
                                  {"data: 8",
                                   "pipeline: 2, data: 4",
                                   "host: {syncTransfers: false}",
                                   "host: {syncTransfers: true}",
                                   "host.syncTransfers",
                                   "pipeline above 1"},
                                  {"tensor: 2, data: 4",
                                   "tensor: 2, pipeline: 2, data: 2",
                                   "scatterGatherPipeline: false",
                                   "scatterGatherPipeline: true",
                                   "scatterGatherPipeline",
                                   "pipeline and tensor above 1"},
                                  {"data: 8, attention: unfused",
                                   "data: 8",
                                   "attentionSpeed: 0.5",
                                   "attentionSpeed: 1",
                                   "attentionSpeed",
                                   "a transformer with attention: fused"},
                                  {"data: 8",
                                   "data: 8, recomputation: full",
                                   "recomputeEvery: 2",
                                   "recomputeEvery: 1",
                                   "recomputeEvery",
                                   "a recomputation"},
                                  {"data: 8, recomputation: selective",
                                   "data: 8, recomputation: needed",
                                   "host: {syncLayers: true}",
                                   "host: {syncLayers: false}",
                                   "host.syncLayers",
                                   "a recomputation of layers"},
                                  {"tensor: 8",
                                   "data: 8",
                                   "overlapGradients: false",
                                   "overlapGradients: true",
                                   "overlapGradients",
                                   "several replicas"},
                                  {"data: 8, overlapGradients: false",
                                   "data: 8",
                                   "bucket: 1MiB",
                                   "bucket: 40MiB",
                                   "bucket",
                                   "overlapGradients among several replicas"},
                                  {"data: 8, dataSharding: full",
                                   "data: 8, dataSharding: optimizer",
                                   "distributedOptimizer: true",
                                   "distributedOptimizer: false",
                                   "distributedOptimizer",
                                   "dataSharding: none or optimizer"},
                                  {"tensor: 8",
                                   "data: 8",
                                   "distributedOptimizer: true",
                                   "distributedOptimizer: false",
                                   "distributedOptimizer",
                                   "several replicas"},
                                  {"tensor: 8",
                                   "data: 8",
                                   "dataSharding: gradients",
                                   "dataSharding: none",
                                   "dataSharding",
                                   "several replicas"},
                                  {"tensor: 2, pipeline: 4",
                                   "context: 2, pipeline: 4",
                                   "dataSharding: {state: optimizer, scatter: false}",
                                   "dataSharding: {state: none}",
                                   "dataSharding.state",
                                   "several replicas"},
                                  {"pipeline: 2, data: 4, schedule: zb-h1",
                                   "pipeline: 2, data: 4",
                                   "host: {syncTransfers: false}",
                                   "host: {syncTransfers: true}",
                                   "host.syncTransfers",
                                   "schedule: 1f1b, interleaved or gpipe"}};
    for (const Case& one : cases)
    {
        const std::string batch = ", globalBatch: 8, ";
        const std::string note = SaidOfPlan(one.without + batch + one.value);
        EXPECT_EQ(note.rfind("run.yaml:5:", 0), 0u) << one.value << note;
        EXPECT_TRUE(Says(note, std::string(": jobs.0.parallel.") + one.key + ": found '")) << note;
        EXPECT_TRUE(Says(note, std::string("no effect here: it needs ") + one.needs)) << note;
        EXPECT_EQ(SaidOfPlan(one.with + batch + one.value), "");
        EXPECT_EQ(SaidOfPlan(one.without + batch + one.typical), "");
    }
}

// Post-validation overlaps steps, which requires a next stage and a next step. Overlapping steps
// have no steady-state criterion.
TEST(NothingIgnored, PostValidationNeedsStagesAndSteps)
{
    const auto refusal = [](const std::string& pipeline, const std::string& steps) {
        const std::string text =
            "system: {base: hgx-h100, nodes: 1}\n"
            "jobs:\n"
            "  - name: a\n"
            "    model: gpt-2\n"
            "    parallel: {globalBatch: 8, postValidation: true, pipeline: " +
            pipeline + "}\n    steps: " + steps + "\n";
        return RefusalOf([&] { ReadScenario(YamlNode::Parse(text, "run.yaml"), Catalog()); });
    };
    EXPECT_EQ(refusal("4", "2"), "");
    EXPECT_EQ(refusal("1", "1"), ""); // of which there is a note
    EXPECT_TRUE(Says(refusal("4", "1"), "postValidation: found true for a single step"));
    EXPECT_TRUE(Says(refusal("4", "{untilSteady: 0.01, atMost: 9}"), "found untilSteady beside"));
}

// Experts padded to a capacity are equal, and only an imbalance is drawn from a seed.
TEST(NothingIgnored, AnExpertLoadSaysOneThing)
{
    const auto refusal = [](const std::string& load) {
        const std::string text =
            "system: {base: hgx-h100, nodes: 1}\n"
            "jobs:\n"
            "  - name: a\n"
            "    model: {base: mixtral-8x22b, layers: 1}\n"
            "    parallel: {data: 8, expert: 8, globalBatch: 8, "
            "dataSharding: full, expertLoad: " +
            load + "}\n";
        return RefusalOf([&] { ReadScenario(YamlNode::Parse(text, "run.yaml"), Catalog()); });
    };
    for (const char* fine : {"{capacityFactor: 1}",
                             "{imbalance: 1.5, seed: 3}",
                             "{shares: [1, 2, 3, 4, 5, 6, 7, 8]}",
                             "{capacityFactor: 1, imbalance: 1}"})
    {
        EXPECT_EQ(refusal(fine), "") << fine;
    }
    EXPECT_TRUE(Says(refusal("{capacityFactor: 1, imbalance: 2}"), "imbalance: found it beside"));
    EXPECT_TRUE(Says(refusal("{capacityFactor: 1, shares: [1, 1, 1, 1, 1, 1, 1, 2]}"),
                     "shares: found it beside capacityFactor"));
    for (const char* drawn : {"{seed: 3}",
                              "{imbalance: 1, seed: 3}",
                              "{capacityFactor: 1, seed: 3}",
                              "{shares: [1, 1, 1, 1, 1, 1, 1, 2], seed: 3}"})
    {
        EXPECT_TRUE(Says(refusal(drawn), "which has no effect")) << drawn;
    }
}

// Each key of `dataSharding` applies to some of its states.
TEST(NothingIgnored, AValueOfDataShardingNeedsItsState)
{
    struct Case
    {
        const char* value;
        std::vector<const char*> states; //!< in which it has an effect
    };

    for (const Case& one : std::vector<Case>{{"reshard: false", {"full"}},
                                             {"prefetch: 2", {"full"}},
                                             {"perParameter: false", {"full"}},
                                             {"everyPass: false", {"full", "gradients"}},
                                             {"overlapGather: true", {"optimizer", "gradients"}},
                                             {"scatter: false", {"optimizer"}}})
    {
        for (const std::string state : {"none", "optimizer", "gradients", "full"})
        {
            const bool hasEffect =
                std::find(one.states.begin(), one.states.end(), state) != one.states.end();
            const std::string note =
                SaidOfPlan("data: 8, globalBatch: 16, dataSharding: {state: " + state + ", " +
                           one.value + "}");
            EXPECT_EQ(note.empty(), hasEffect) << state << " " << one.value << ": " << note;
        }
    }
}

// The only micro-batch of a step is also its last one, after which gradients are reduced.
TEST(NothingIgnored, GradientsOfEveryPassNeedSeveral)
{
    for (const std::string state : {"gradients", "full"})
    {
        const std::string note = SaidOfPlan(
            "data: 8, globalBatch: 8, dataSharding: {state: " + state + ", everyPass: false}");
        EXPECT_TRUE(Says(note, "it needs several micro-batches per replica")) << note;
    }
}

// A key that has an effect in another fidelity or with other jobs gets a note, not a refusal.
TEST(NothingIgnored, AKeyOfTheNetworkNeedsItsFidelityAndJobs)
{
    struct Case
    {
        const char* key;     //!< of `network`
        const char* without; //!< a fidelity in which it has no effect
        const char* with;    //!< ... and one in which it has
        const char* needs;
    };

    const auto saidOf = [](const std::string& network, const std::string& job) {
        return SaidOf("system: {base: hgx-h100, nodes: 2}\njobs: [{name: a, " + job +
                      "}]\nnetwork:\n  {" + network + "}\n");
    };
    const std::string call = "collective: {op: all-reduce, bytes: 1MiB, calls: 1}";
    for (const Case& one : std::vector<Case>{
             {"tolerance: 3%", "flow", "auto", "fidelity auto"},
             {"packets: {jobs: [a]}", "packet", "hybrid", "fidelity hybrid"},
             {"switch: {flowControl: none}", "flow", "packet", "fidelity packet or hybrid"},
             {"congestionControl: {kind: dcqcn}", "stream", "packet", "fidelity packet or hybrid"},
             {"clock: 1ns", "auto", "packet", "fidelity packet or hybrid"},
             {"sharing: {tolerance: 1e-3}",
              "packet",
              "flow",
              "fidelity stream, flow, hybrid or auto"}})
    {
        const std::string key(one.key);
        const std::string note = saidOf(key + ", fidelity: " + one.without, call);
        EXPECT_EQ(note.rfind("run.yaml:4:", 0), 0u) << key << note;
        EXPECT_TRUE(Says(note, ": network." + key.substr(0, key.find(':')) + ": found "));
        EXPECT_TRUE(Says(note, std::string("has no effect here: it needs ") + one.needs)) << note;
        EXPECT_EQ(saidOf(key + ", fidelity: " + one.with, call), "");
    }
    const std::string traffic = "traffic: {pattern: incast, senders: 3, bytes: 1kB}";
    EXPECT_EQ(saidOf("nccl: 2.21.5", traffic),
              "run.yaml:4:10: network.nccl: found '2.21.5', which has no effect here: it needs a "
              "training or collective job");
    EXPECT_EQ(saidOf("nccl: 2.21.5", call), "");
}

// A non-default value of a packet key that other keys make ineffective gets a note.
TEST(NothingIgnored, APacketsKeyNeedsWhatItIsOf)
{
    struct Case
    {
        const char* value;
        const char* without;
        const char* with; //!< another value of the same part
        const char* needs;
    };

    const auto saidOf = [](const std::string& network, const char* routing = "ecmp") {
        return SaidOf(std::string("system: {base: hgx-h100, nodes: 2, fabric: {routing: ") +
                      routing +
                      "}}\njobs: [{name: a, collective: {op: all-reduce, bytes: 1MiB, calls: 1}}]\n"
                      "network:\n  {fidelity: packet, " +
                      network + "}\n");
    };
    for (const Case& one : std::vector<Case>{
             {"trim: true", "flowControl: pfc", "flowControl: none", "flowControl: none, or"},
             {"trimTail: 0.5", "trim: false", "trim: true, flowControl: none", "trim: true"},
             {"controlQueue: 1MiB", "trim: false", "trim: true, flowControl: none", "trim: true"},
             {"portQueue: 1MiB", "flowControl: credits", "flowControl: none", "flowControl: none"},
             {"creditBuffer: 1MiB",
              "flowControl: pfc",
              "flowControl: credits",
              "flowControl: credits"},
             {"headroom: 1MiB", "flowControl: none", "flowControl: pfc", "flowControl: pfc"},
             {"markFrom: 8KiB", "marks: false", "marks: true", "marks: true"}})
    {
        const std::string value(one.value);
        const std::string note = saidOf("switch: {" + value + ", " + one.without + "}");
        EXPECT_EQ(note.rfind("run.yaml:4:", 0), 0U) << note;
        EXPECT_TRUE(Says(note, "network.switch." + value.substr(0, value.find(':')) + ": found '"))
            << note;
        EXPECT_TRUE(Says(note, std::string("has no effect here: it needs ") + one.needs)) << note;
        EXPECT_EQ(saidOf("switch: {" + value + ", " + one.with + "}"), "");
    }
    EXPECT_EQ(saidOf("switch: {trim: false, creditBuffer: 0B, trimTail: 0}"), ""); // defaults
    EXPECT_TRUE(Says(saidOf("queuePair: {reordering: 64}"), "it needs recovery: selective"));
    EXPECT_EQ(saidOf("queuePair: {reordering: 64, recovery: selective}"), "");
    const std::string nack = "queuePair: {nackInterval: 1us";
    EXPECT_TRUE(Says(saidOf(nack + ", recovery: selective}"), "it needs recovery: go-back-n"));
    EXPECT_EQ(saidOf(nack + "}"), "");
    EXPECT_TRUE(Says(saidOf("queuePair: {paths: 8}"), "it needs a fabric with routing: spray"));
    EXPECT_TRUE(
        Says(saidOf("queuePair: {distinctPaths: false}"), "it needs a fabric with routing: spray"));
    EXPECT_TRUE(
        Says(saidOf("queuePair: {pathChoice: mixed}"), "it needs a fabric with routing: spray"));
    EXPECT_TRUE(Says(saidOf("queuePair: {ackBitmap: true}"), "it needs recovery: selective"));
    // Acknowledging every packet leaves nothing to delay, and a limit without a table has no
    // effect.
    EXPECT_TRUE(Says(saidOf("queuePair: {ackDelay: 1us}"), "it needs ackEvery above 1"));
    EXPECT_EQ(saidOf("queuePair: {ackDelay: 1us, ackEvery: 2}"), "");
    EXPECT_TRUE(Says(saidOf("arbitration: {highLimit: 4KiB}"), "it needs a highTable"));
    EXPECT_EQ(saidOf("arbitration: {highLimit: 4KiB, highTable: '1:64'}"), "");
    // Collectives send consecutive messages between GPUs of nodes, so both keys have an effect.
    EXPECT_EQ(saidOf("queuePair: {messageGap: 1us}, nodeLinks: {burst: 1KiB}"), "");
}

// DCQCN reduces its rate on marks only.
TEST(NothingIgnored, DcqcnNeedsMarks)
{
    const auto saidOf = [](const std::string& control, const std::string& marks) {
        return SaidOf(
            "system: {base: hgx-h100, nodes: 2}\n"
            "jobs: [{name: a, collective: {op: all-reduce, bytes: 1MiB, calls: 1}}]\n"
            "network: {fidelity: packet, congestionControl: {kind: " +
            control + "}, switch: {marks: " + marks + "}}\n");
    };
    EXPECT_TRUE(Says(saidOf("dcqcn", "false"), "network.switch.marks: found 'false'"));
    EXPECT_EQ(saidOf("dcqcn", "true"), "");
    EXPECT_EQ(saidOf("timely", "false"), "");
}

// With packet spraying, a receiver that requires order triggers retransmissions.
TEST(NothingIgnored, SprayingNeedsReordering)
{
    const auto saidOf = [](const char* routing, const std::string& pair) {
        return SaidOf(std::string("system: {base: hgx-h100, nodes: 2, fabric: {routing: ") +
                      routing +
                      "}}\njobs: [{name: a, collective: {op: all-reduce, bytes: 1MiB, calls: 1}}]\n"
                      "network: {fidelity: packet" +
                      pair + "}\n");
    };
    EXPECT_EQ(saidOf("spray", ""), "");
    EXPECT_TRUE(Says(saidOf("spray", ", queuePair: {recovery: go-back-n}"),
                     "network.queuePair.recovery: found 'go-back-n' with routing 'spray'"));
    EXPECT_TRUE(Says(saidOf("spray", ", queuePair: {recovery: selective, reordering: 0}"),
                     "queuePair.reordering: found '0' with routing 'spray'"));
    EXPECT_EQ(saidOf("spray", ", queuePair: {recovery: selective}"), "");
    EXPECT_EQ(saidOf("ecmp", ""), "");
}

TEST(NothingIgnored, ASettingOfDimensionWiseNeedsSuchACall)
{
    const auto saidOf = [](const std::string& setting, const std::string& call) {
        return SaidOf(
            "system: {base: hgx-h100, nodes: 2}\njobs: [{name: a, collective: {bytes: "
            "1MiB, calls: 1, " +
            call + "}}]\nnetwork: {nccl: {dimensionWise: {" + setting + "}}}\n");
    };
    EXPECT_EQ(saidOf("chunks: 8", "op: all-reduce"),
              "run.yaml:3:42: network.nccl.dimensionWise.chunks: found '8', which has no effect "
              "here: it needs a call of algorithm dimension-wise");
    EXPECT_EQ(saidOf("chunks: 8", "op: all-reduce, algorithm: dimension-wise"), "");
    EXPECT_TRUE(Says(saidOf("density: 1%", "op: all-gather, algorithm: dimension-wise"),
                     "it needs an all-reduce of algorithm dimension-wise"));
    EXPECT_EQ(saidOf("density: 1%", "op: all-reduce, algorithm: dimension-wise"), "");
    EXPECT_TRUE(Says(saidOf("dispatch: 8/256", "op: all-reduce, algorithm: dimension-wise"),
                     "it needs an all-to-all of algorithm dimension-wise"));
}

// Keys that a topology file determines must not be set differently.
TEST(NothingIgnored, WhatATopologyFileOverrulesIsRefused)
{
    const ScratchFolder folder;
    std::ofstream(folder / "v100.xml")
        << WriteTopology(ReadTopology("dgx1-v100", "", Catalog()), TopologyFormat::NcclXml);
    const auto over = [&](const std::string& node) {
        return Refusal("{base: dgx1-v100, topology: " + folder / "v100.xml" + ", node: {" + node +
                       "}}");
    };
    EXPECT_EQ(over("gpus: 8"), ""); // the value of the file
    EXPECT_TRUE(Says(over("nic: {count: 2}"), "node.nic.count: found it beside `topology`"));
    EXPECT_TRUE(Says(over("nvlink: {wiring: mesh, linksPerPair: 3}"), "node.nvlink.wiring"));
    EXPECT_TRUE(Says(over("pcie: {gpusOn: [cpu0, cpu0, cpu0, cpu0, cpu1, cpu1, cpu1, cpu1]}"),
                     "node.pcie.gpusOn"));
    EXPECT_EQ(over("nic: {latency: 1us}"), ""); // not in the file
}

TEST(NothingIgnored, NumbersAndLayersAreToldWhatIsExpectedOfThem)
{
    const YamlNode node = YamlNode::Parse("seed: 9223372036854775808", "a.yaml").Get("seed");
    EXPECT_EQ(RefusalOf([&] { node.AsInteger(0, std::numeric_limits<int64_t>::max()); }),
              "a.yaml:1:7: seed: found '9223372036854775808', expected a whole number from 0 to "
              "9223372036854775807");
    const std::string table = "{name: t, source: s, input: [3, 8, 8], network: [{convolutoin: 4}]}";
    const std::string refusal =
        RefusalOf([&] { ReadLayerTable(YamlNode::Parse(table, "t.yaml"), Catalog()); });
    EXPECT_TRUE(Says(refusal, "did you mean 'convolution'?")) << refusal;
    EXPECT_TRUE(Says(refusal, "bottleneck")) << refusal;
}

} // namespace
} // namespace weir
