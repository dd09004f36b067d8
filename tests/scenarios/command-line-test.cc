// SPDX-License-Identifier: GPL-2.0-only
#include "weir-command.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/wait.h>
#include <vector>

namespace weir
{
namespace
{

struct Refusal
{
    const char* arguments;
    const char* says; //!< part of its single line
};

class Refusals : public testing::TestWithParam<Refusal>
{
};

/** Wrong input ends with exit code 2 and one line on standard error, and leaves no file. */
TEST_P(Refusals, OneLineAndExitCode2)
{
    const ScratchFolder folder;
    const Outcome outcome = Weir(folder, GetParam().arguments);
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.rfind("weir: ", 0), 0U) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    EXPECT_NE(outcome.err.find(GetParam().says), std::string::npos) << outcome.err;
    EXPECT_EQ(folder.Files(), 0U);
}

constexpr Refusal REFUSALS[] = {
    {"", "expected one of: run"},
    {"rnu x", "did you mean 'run'"},
    {"hlep collective", "found the unknown verb 'hlep'"},
    {"help colective", "did you mean 'collective'"},
    {"--jsn", "found the unknown option '--jsn'"},
    {"run", "found no FILE, expected"},
    {"run gpt-22b-8-a100-full --fidelty flow", "did you mean '--fidelity'"},
    {"run missing.yaml", "missing.yaml"},
    {"collective --system hgx-h100 --op all-reduce --algorithm ring,rings",
     "--algorithm: found 'rings', expected one of: ring, tree"},
    {"collective --system hgx-h100 --op all-reduce --sizes 1MiB --protocol 'allreduce:ll;ll128'",
     "--protocol: found 'll128', expected an operation and a colon before it"},
    {"collective --system hgx-h100 --op all-reduce --sizes 1MiB --algorithm ^ring,tree,nvls",
     "no algorithm and protocol for all-reduce"},
    {"run gpt-22b-8-a100-full --fidelity molecules",
     "--fidelity: found 'molecules', expected one of: analytical, stream, flow, packet, hybrid"},
    {"run gpt-22b-8-a100-full --set jobs.0.parallel.tensr=4", "did you mean 'tensor'"},
    {"run gpt-22b-8-a100-full --set jobs.0.parallel.tensor=7", "tensor"},
    {"run gpt-22b-8-a100-full --set jobs.0.parallel.pipeline=2", "16 GPUs, expected at most 8"},
    {"run mixtral-8x22b-128-h100 --set jobs.0.parallel.expert=3", "a divisor of experts = 8"},
    {"run llama-3-8b-16-h100 --set jobs.0.parallel.context=3 --set jobs.0.parallel.data=2",
     "jobs.0.parallel.context: found context * 2 * tensor = 12, expected a divisor of sequence"},
    {"run llama-3-8b-16-h100 --set jobs.0.model='{name: m, source: s, layers: 4, hidden: 256}'",
     "jobs.0.model.heads: found nothing"},
    {"graph gpt-175b-96-h800 --set jobs.0.parallel.globalBatch=16000000 --set "
     "jobs.0.parallel.virtualStages=1 --set jobs.0.parallel.schedule=1f1b",
     "jobs.0.parallel: globalBatch: found"},
    {"run gpt-175b-96-h800 --set jobs.0.parallel.globalBatch=16000000 --set "
     "jobs.0.parallel.virtualStages=1 --set jobs.0.parallel.schedule=1f1b",
     "jobs.0.parallel: globalBatch: found"},
    {"run gpt-22b-8-a100-full --set system.fabric.link.rate=400", "with a unit"},
    {"run gpt-175b-64-a100-full --set jobs.0.parallel.pipeline=1 --set "
     "jobs.0.parallel.virtualStages=1 --set jobs.0.parallel.schedule=1f1b",
     "GiB"},
    {"run gpt-22b-8-a100-full -o no/such/folder.h5",
     "found 'no/such/folder.h5', which cannot be written"},
    {"run gpt-22b-8-a100-full -o a.h5 --timeline no/such.json",
     "found 'no/such.json', which cannot be written"},
    {"run gpt-22b-8-a100-full -o .", "which is a folder, expected a file"},
    {"run gpt-22b-8-a100-full -o /dev/null", "which is a device or a pipe, expected a file"},
    {"collective --op all-reduce", "found no --system, expected"},
    {"collective --system hgx-h10 --op all-reduce", "did you mean 'hgx-h100'"},
    {"collective --system hgx-h10 --set fabric.routing=spray",
     "--system: found the unknown system"},
    {"run gpt-22b-8-a100-full --set system=x --set system.nodes=2",
     "--set system=x: system: found the unknown system 'x'"},
    {"collective --system hgx-h100 --op allreduce", "did you mean 'all-reduce'"},
    {"collective --system hgx-h100 --op all-reduce --sizes 8Q", "--sizes"},
    {"collective --system hgx-h100 --op all-reduce --nodes 0", "--nodes"},
    {"collective --system hgx-h100 --op all-reduce --gpus-per-node 9", "at most 8"},
    {"collective --system hgx-h100 --op all-reduce --channels 65", "channels"},
    {"collective --system hgx-h100 --op all-reduce --min-channels 32 --max-channels 8",
     "--min-channels: found 32, expected at most the maximum, 8"},
    {"collective --system hgx-h100 --op all-reduce --qps 129",
     "--qps: found '129', expected a whole number from 1 to 128"},
    {"collective --system hgx-h100 --op all-reduce --p2p-level pxb",
     "--p2p-level: found 'pxb', expected one of: 0, 1, 2, 3, 4, LOC, NVL, PIX, PXB, PHB, SYS"},
    {"collective --system hgx-h100 --op all-reduce --p2p-level 7",
     "--p2p-level: found '7', expected one of: 0, 1, 2, 3, 4, LOC, NVL, PIX, PXB, PHB, SYS"},
    {"collective --system hgx-h100 --nodes 2 --op all-reduce --algorithm dimension-wise "
     "--memory-rate 0GB/s",
     "--memory-rate: found '0GB/s', expected a rate above zero"},
    {"collective --system hgx-h100 --nodes 2 --op all-reduce --algorithm dimension-wise "
     "--density 1% --selection-rate 0GB/s",
     "--selection-rate: found '0GB/s', expected a rate above zero"},
    {"collective --system hgx-h100 --op all-reduce --buffer-size ''", "--buffer-size: found"},
    {"run gpt-22b-8-a100-full -o a.h5 --timeline ./a.h5", "expected another file than the results"},
    {"run gpt-22b-8-a100-full -o ''", "found '', expected the name of a file"},
    {"graph gpt-22b-8-a100-full --micro-batch 99", "--micro-batch: found 99, expected one of 0 to"},
    {"collective --system hgx-h100 --op all-reduce --csv no/such.csv", "cannot be written"},
    {"collective --system hgx-h100 --op all-reduce --link-series 10us", "expected --output beside"},
    {"flows --topology hgx-h100 --flows f.csv --link-series 0s -o a.h5", "a time above zero"},
    {"flows --topology hgx-h100 --flows f.csv --port-series 1us -o a.h5",
     "found it in fidelity flow, expected --fidelity packet"},
    {"flows --topology hgx-h100 --flows f.csv --fidelity packet --port-series 1us",
     "expected --output or --timeline beside it"},
    {"flows --topology hgx-h100 --flows f.csv --fidelity packet --port-series 0s -o a.h5",
     "a time above zero"},
    {"collective --system hgx-h100 --op all-reduce --coverage 0.5", "--coverage"},
    {"run gpt-22b-8-a100-full --coverage 1", "--coverage"},
    {"run gpt-22b-8-a100-full --coverage ''", "--coverage: found '', expected 0.8, 0.9, 0.95 or"},
    {"collective --system hgx-h100 --op all-to-all --algorithm ring",
     "--algorithm: found no algorithm 'ring' for all-to-all over these 8 GPUs, expected one of: "
     "point-to-point, dimension-wise"},
    {"collective --system hgx-h100 --op all-reduce --nccl 2.18 --channels 40 --algorithm nvls",
     "--channels: found 40 channels for all-reduce, expected 1 to 32"},
    {"collective --system hgx-h100 --op all-reduce --channels 4 --min-channels 10",
     "--channels: found 4, expected at least --min-channels, 10"},
    {"collective --system hgx-h100 --op all-reduce --channels 20 --max-channels 10",
     "--channels: found 20, expected at most --max-channels, 10"},
    {"collective --system hgx-h100 --nodes 2 --op all-reduce --algorithm dimension-wise "
     "--per-dimension ring,direct,ring --sizes 1MiB",
     "--per-dimension: found algorithms for 3 dimensions, expected at most 2"},
    {"collective --system hgx-h100 --nodes 4 --op all-to-all --algorithm dimension-wise "
     "--dispatch 8/250 --sizes 1MiB",
     "--dispatch: found a dispatch to 250 experts, expected a multiple of the 32 ranks"},
    {"collective --system hgx-h100 --op all-reduce --chunks 8",
     "--chunks: found it with --algorithm auto, expected --algorithm dimension-wise with it"},
    {"collective --system hgx-h100 --op all-reduce --counts c.csv",
     "--counts: found it with --op all-reduce, expected --op all-to-all with it"},
    {"collective --system hgx-h100 --op all-to-all --counts c.csv --sizes 1MiB",
     "--counts: found --sizes 1MiB beside it, expected one of the two"},
    {"collective --system hgx-h100 --op all-reduce --explain --json",
     "--explain: found it with --json, expected neither: it precedes the printed table"},
    {"collective --system hgx-h100 --op all-reduce --explain --csv -", "--explain: found it with"},
    {"collective --system hgx-h100 --op all-reduce --nccl ''", "--nccl: found '', expected a"},
    {"collective --system hgx-h100 --op all-reduce --nodes 2 --set fabric.kind=none",
     "fabric.kind: found 'none' with 2 nodes, expected a network between them"},
    {"collective --system /tmp --op all-reduce", "--system: found the folder '/tmp', expected"},
    {"collective --system hgx-h100 --op all-reduce --algorithm dimension-wise --density 0%",
     "--density: found '0%', expected 1e-04% to 100%"},
    {"search gpt-22b-8-a100-full --fidelity foo",
     "--fidelity: found 'foo', expected analytical, stream or flow"},
    {"search gpt-22b-8-a100-full --fidelity auto", "expected analytical, stream or flow"},
    {"search gpt-22b-8-a100-full --set network.fidelity=flow",
     "--fidelity: found --set network.fidelity=flow beside it"},
    {"run gpt-22b-8-a100-full --fidelity flow --set network.fidelity=stream",
     "--fidelity: found --set network.fidelity=stream beside it, expected one of the two"},
    {"run gpt-22b-8-a100-full --set jobs.0.name=background",
     "found 'background', the name of background flows in results"},
    {"validate nccl-v100-2019 --fidelity packet", "expected analytical, stream or flow"},
    {"validate korthikanti-2022 --fidelity flow",
     "--fidelity: found flow for korthikanti-2022, whose fidelity is fixed"},
    {"calibrate --system polaris --from a.txt --seed 3 -o a.yaml",
     "--seed: found it without --shortcut, expected both"},
    {"calibrate --shortcut collectives --op all-reduce -o a.yaml",
     "--op: found it with --shortcut or --corrections"},
    {"calibrate --system polaris --from a.txt:nodes=2,nodes=4 -o a.yaml",
     "found nodes again, expected it once"},
    {"calibrate --system polaris --from a.txt -o mine",
     "--output: found 'mine', expected a name that ends in .yaml"},
    {"graph congestion-512-h100", "found no training job, expected one"},
    {"collective --system hgx-h100 --op all-reduce --algorithm nvls --protocol ll",
     "found protocol 'll', which algorithm 'nvls' does not support, expected simple"},
    {"collective --system hgx-h100 --op all-reduce --fidelity hybrid",
     "--fidelity: found hybrid without packets.links, expected it by --set or in the file of "
     "--network"},
    {"collective --system hgx-h100 --op all-reduce --fidelity hybrid --set packets.jobs=[a]",
     "expected one of: links"},
    {"collective --system hgx-h100 --op all-reduce --fidelity hybrid --set packets.links=[a-b]",
     "packets.links.0: found 'a-b', expected the name of a link"},
    {"collective --system hgx-h100 --op all-reduce --set jobs.0.steps=2",
     "--set jobs.0.steps=2: found 'jobs', expected a key of a system: base, "},
    {"collective --system hgx-h100 --op all-reduce --set fabrik.routing=spray",
     "did you mean 'fabric'?"},
    {"collective --system hgx-h100 --op all-reduce --nodes 2 --set nodes=4",
     "--nodes: found --set nodes=4 beside it, expected one of the two"},
    {"collective --system hgx-h100 --op all-reduce --fidelity packet --congestion-control dcqcn "
     "--set congestionControl.kind=hpcc",
     "--congestion-control: found --set congestionControl.kind=hpcc beside it, expected one of"},
    {"collective --system hgx-h100 --op all-reduce --fidelity packet --congestion-control dcqcn "
     "--set 'congestionControl={kind: hpcc}'",
     "--congestion-control: found --set congestionControl={kind: hpcc} beside it, expected one of"},
    {"collective --system hgx-h100 --op all-reduce --set base=hgx-h200",
     "--system: found --set base=hgx-h200 beside it, expected one of the two"},
    {"flows --topology hgx-h100 --flows f.csv --routing ecmp --set fabric.routing=spray",
     "--routing: found --set fabric.routing=spray beside it, expected one of the two"},
    {"collective --system node.xml --op all-reduce --set fabric.routing=spray",
     "found it with --system node.xml, expected a system in YAML, such as {base: hgx-h100, topo"},
    {"collective --system hgx-h100 --op all-reduce --algorithm imported",
     "found 'imported', expected one of: ring, tree, collnet-direct, collnet-chain, nvls, "
     "nvls-tree, pat, point-to-point, symmetric, dimension-wise, auto"},
    {"collective --system hgx-h100 --op all-reduce --nccl 3.1",
     "--nccl: found '3.1', expected a version from 2.4.0 on, such as 2.30.7"},
    {"collective --system hgx-h100 --op all-reduce --csv - --json",
     "--csv: found '-' beside --json, expected one of the two on standard output"},
    {"flows --topology hgx-h100 --flows f.csv --fidelity stream",
     "--fidelity: found 'stream', expected flow, packet or hybrid"},
    {"flows --topology hgx-h100 --flows f.csv --fidelity hybrid",
     "--fidelity: found hybrid without any packets, expected packets: with flows, sources, "
     "destinations, below or links in the file of --network"},
    {"flows --topology hgx-h100 --flows f.csv --fidelity hybrid --set packets.links=[a-b]",
     "packets.links.0: found 'a-b', expected the name of a link, as 'node0/nic0->leaf0', in"},
    {"flows --topology hgx-h100 --flows f.csv --fidelity hybrid --set packets.below=0B",
     "packets.below: found '0B', expected a size above zero"},
    {"flows --topology hgx-h100 --flows f.csv --fidelity packet --set settle.replay=true "
     "--link-series 1us -o a.h5",
     "--link-series: found it with network.settle, expected it without: replayed episodes have no"},
    {"calibrate --shortcut steps --seed -1 -o a.yaml",
     "--seed: found '-1', expected a whole number from 0 to"},
    {"flows --topology hgx-h100 --flows f.csv --hash-seed -1",
     "--hash-seed: found '-1', expected a whole number from 0 to"},
    {"flows --topology hgx-h100 --flows f.csv --hash-seed 99999999999999999999",
     "--hash-seed: found '99999999999999999999', expected a whole number from 0 to"},
    {"flows --topology hgx-h100 --flows f.csv --fidelity packet --set switch.flowControl=none "
     "--set switch.portQueue=1KiB",
     "weir: --set switch.portQueue=1KiB: switch.portQueue: found 1024 bytes, expected at least"},
    {"flows --topology hgx-h100 --flows f.csv --fidelity packet --congestion-control swift "
     "--set congestionControl.scalingFrom=100",
     "congestionControl.scalingFrom=100: congestionControl.scalingFrom: found 100 packets, "
     "expected less than scalingTo, 100"},
    {"collective --system hgx-h100 --op all-reduce --sizes 80000TiB",
     "--sizes: found 80000TiB, expected at most 32768TiB"},
    {"collective --system hgx-h100 --op all-reduce --sizes 8 --algorithm nvls-tree",
     "for all-reduce over these 8 GPUs, expected one of: ring, tree, nvls, symmetric, "
     "dimension-wise\n"},
    {"collective --system hgx-h100 --op all-reduce --fidelity flow --set switch.buffer=1MiB",
     "weir: --set switch.buffer=1MiB: found it with fidelity flow, expected --fidelity packet"},
    {"collective --system hgx-h100 --op all-reduce --set foo",
     "--set foo: found no '=', expected key.path=value"},
    {"collective --system hgx-h100 --op all-reduce --fidelity packet --coverage 0.8",
     "--coverage: found it with fidelity packet, expected analytical, stream or auto with it"},
    {"collective --system hgx-h100 --nodes 2 --op all-reduce --fidelity packet --set "
     "switch.buffer=1B",
     "weir: --set switch.buffer=1B: switch.buffer: found 1 bytes at leaf0, expected more than the"},
    {"flows --topology hgx-h100 --flows f.csv --fidelity hybrid --set packets.below=1kB "
     "--set settle.replay=true",
     "settle: found it with fidelity hybrid, expected fidelity packet: packets that share links "
     "with a"},
    {"flows --topology hgx-h100 --flows f.csv --fidelity packet --set packets.below=1kB",
     "packets: found it with fidelity packet, expected fidelity hybrid: it selects the flows that "
     "move as packets"},
    {"flows --topology hgx-h100 --flows f.csv --set "
     "'events=[{kind: slow-gpu, gpu: n0g0, factor: 2}]'",
     "events.0.kind: found 'slow-gpu', expected an event on links: flows are given by --flows"},
    {"flows --topology hgx-h100 --flows f.csv --link-series 1ps -o a.h5", "expected at least 1ns"},
    {"collective --system hgx-h100 --op all-reduce --fidelity packet --set switch.markFrom=1MiB",
     "switch.markFrom: found '1MiB', expected at most markAll, 400"},
    {"calibrate --shortcut kernels -o a.yaml", "expected one of: collectives, steps, packets"},
    {"collective --system hgx-h100 --op all-reduce --reference stream",
     "--reference: found 'stream', expected flow or packet"},
    {"collective --system hgx-h100 --op all-reduce --fidelity flow --reference flow",
     "found 'flow' with fidelity flow, expected analytical, stream or auto with it"},
    {"collective --system hgx-h100 --op all-reduce --fidelity auto --reference packet",
     "found 'packet' with fidelity auto, expected analytical, stream or flow with it"},
    {"run gpt-22b-8-a100-full --reference packet",
     "--reference: found 'packet' with training jobs, expected flow"},
    {"calibrate --shortcut steps -o no/such.yaml", "cannot be written"},
    {"run gpt-22b-8-a100-full --tolerance 3%", "expected --fidelity auto with it"},
    {"run gpt-22b-8-a100-full --fidelity auto --tolerance 3",
     "weir: --tolerance: found '3' without a unit, expected a percentage"},
    {"run gpt-22b-8-a100-full --fidelity auto --tolerance 101%",
     "weir: --tolerance: found '101%', expected 0% to 100%"},
    {"run gpt-22b-8-a100-full --fidelity auto --tolerance ''",
     "weir: --tolerance: found '', expected a value"},
    {"run gpt-22b-8-a100-full --fidelity ''", "weir: --fidelity: found '', expected a value"},
    {"collective --system hgx-h100 --op all-reduce --network ''", "--network: found '', expected"},
    {"collective --system hgx-h100 --op all-reduce --msccl ''", "--msccl: found '', expected"},
    {"flows --topology hgx-h100 --flows f.csv --routing ''", "--routing: found '', expected"},
    {"search gpt-22b-8-a100-full --job ''", "weir: --job: found '', expected a value"},
    {"calibrate --system polaris --from '' -o a.yaml", "weir: --from: found '', expected a value"},
    {"topology draw hgx-h100 -o ''", "weir: --output: found '', expected a value"},
    {"import '' --check", "FILE: found '', expected the name of a file"},
    {"run gpt-22b-8-a100-full -o", "weir: --output: found 0 values, expected 1 (FILE)"},
    {"run gpt-22b-8-a100-full -o --quiet",
     "--output: found '--quiet', expected the name of a file"},
    {"search gpt-22b-8-a100-full --set output.file=a.h5",
     "weir: --set output.file: found it without result files, expected --results of weir sweep"},
    {"collective --system hgx-h100 --op all-reduce --tolerance 3%", "expected --fidelity auto"},
    {"collective --system hgx-h100 --op all-reduce --fidelity auto --tolerance 3", "--tolerance"},
    {"validate nccl-v100-2019 --fidelity auto", "expected analytical, stream or flow"},
    {"calibrate -o a.yaml", "neither --shortcut nor --corrections nor --system with"},
    {"calibrate --system polaris --from no-such.txt -o a.yaml", "no-such.txt"},
    {"calibrate --system polaris --from a.txt --shortcut steps -o a.yaml",
     "--system: found it with --shortcut or --corrections, expected it with nccl-tests runs only"},
    {"calibrate --corrections packets --shortcut steps -o a.yaml",
     "--corrections: found it with --shortcut, expected one of them"},
    {"calibrate --system polari --from a.txt -o a.yaml", "did you mean 'polaris'"},
    {"calibrate --system '{base: polaris}' --from a.txt -o a.yaml", "a name of the catalog or a"},
    {"calibrate --system polaris --from a.yaml -o a.yaml", "expected another file than the file"},
    {"calibrate --system polaris --from a.txt:node=2 -o a.yaml", "did you mean 'nodes'"},
    {"collective --system ./a.graphml --op all-reduce",
     "weir: --system: found './a.graphml', a GraphML file, expected a system's name or file: weir "
     "topology convert ./a.graphml -o SYSTEM.yaml writes one"},
    {"collective --system hgx-h100 --msccl a.xml --tuner t.csv",
     "--msccl: found --op, --algorithm, --channels or --tuner beside it, expected only those of"},
    {"collective --system hgx-h100 --msccl /dev/zero", "/dev/zero: found a device, expected"},
    {"collective --system hgx-h100 --op all-to-all --counts /dev/zero",
     "/dev/zero: found a device, expected a CSV"},
    {"show calibration README.md", "found the unknown calibration 'README.md', expected a file or"},
    {"list system5", "expected one of: systems"},
    {"show model gpt-175", "did you mean 'gpt-175b'"},
    {"topology show no-such.xml", "no-such.xml"},
    {"topology convert hgx-h100 -o node.json", "--output: found 'node.json'"},
    {"validate no-such-suite", "no-such-suite"},
    {"graph gpt-22b-8-a100-full --rank 8", "--rank: found 8, expected one of 0 to 7"},
    {"kernel --gpu h300 gemm 64 64 64", "h300"},
    {"kernel gemm 64 0 64", "SIZES: found '0', expected a number in ["},
    {"kernel gemm -1 64 64", "expected a number in ["},
    {"kernel gemm 4294967296 4294967296 4294967296", "expected at most 1e+20"},
    {"kernel attention --heads 8 --sequence 18446744073709551615 --head-dim 64",
     "expected a number in ["},
    {"kernel embedding --rows 18446744073709551615 --dim 64", "expected a number in ["},
    {"kernel embedding --rows 9 --dim 64 --zipf nan",
     "--zipf: found 'nan', expected a finite number of at least 0"},
    {"kernel embedding --rows 9 --dim 64 --zipf inf", "--zipf: found 'inf', expected a finite"},
    {"kernel embedding --indices no-such-file --rows 9 --dim 64", "found --rows beside it"},
    {"kernel embedding --indices no-such-file --zipf 1 --dim 64", "found --zipf beside it"},
    {"kernel gemm 64 64 64 --precision int8", "expected one of: fp32"},
    {"kernel --gpu v100-sxm-32g gemm 64 64 64",
     "--precision: found bf16, expected one of: fp32, fp16 (v100-sxm-32g"},
    {"kernel attention --heads 8 --kv-heads 3 --sequence 64 --head-dim 64",
     "--kv-heads: found 3, expected a divisor of the 8"},
    {"kernel memory copy --bytes 1MiB", "expected one of: layerNormForward"},
    {"kernel memory fill --bytes 1", "without a unit"},
};

INSTANTIATE_TEST_SUITE_P(CommandLine, Refusals, testing::ValuesIn(REFUSALS));

/** `weir graph` shows what `weir run` executes, for transformers and for layer tables. */
TEST(CommandLine, GraphShowsBothKindsOfModels)
{
    const ScratchFolder folder;
    const std::string run = "graph gpt-22b-8-a100-full --micro-batch 0 ";
    const Outcome transformer = Weir(folder, run);
    EXPECT_EQ(transformer.exit, 0) << transformer.err;
    EXPECT_NE(transformer.out.find("over tensor: "), std::string::npos);
    const Outcome table = Weir(
        folder,
        run + "--set jobs.0.model=resnet-50 --set jobs.0.parallel='{data: 8, globalBatch: 8}'");
    EXPECT_EQ(table.exit, 0) << table.err;
    EXPECT_NE(table.out.find("all-reduce over data: "), std::string::npos) << table.out;
    EXPECT_EQ(table.out.find("over tensor: "), std::string::npos);
}

TEST(CommandLine, EveryVerbHasHelpWithExamples)
{
    const ScratchFolder folder;
    for (const char* verb : {"",
                             "run",
                             "calibrate",
                             "collective",
                             "flows",
                             "graph",
                             "import",
                             "kernel",
                             "kernel gemm",
                             "list",
                             "reference",
                             "report",
                             "search",
                             "show",
                             "sweep",
                             "topology",
                             "topology show",
                             "validate"})
    {
        const Outcome outcome = Weir(folder, std::string(verb) + " --help");
        EXPECT_EQ(outcome.exit, 0);
        EXPECT_EQ(outcome.err, "");
        EXPECT_NE(outcome.out.find("Examples:\n  weir " + std::string(verb)), std::string::npos)
            << outcome.out;
    }
}

TEST(CommandLine, HelpAndManPageNameTheExitCodes)
{
    const ScratchFolder folder;
    for (const char* words : {"--help", "reference man"})
    {
        const std::string text = Weir(folder, words).out;
        for (const char* code : {"0 success", "1 failed", "2 invalid", "130 interrupted"})
        {
            EXPECT_NE(text.find(code), std::string::npos) << words << ": " << code;
        }
    }
}

TEST(CommandLine, CompletionOffersTheFidelitiesOfEachVerb)
{
    const ScratchFolder folder;
    const std::string script = Weir(folder, "reference bash").out;
    for (const char* line : {"'run --fidelity') words='analytical stream flow packet hybrid auto'",
                             "'collective --fidelity') words='analytical stream flow packet hybrid "
                             "auto'",
                             "'flows --fidelity') words='flow packet hybrid'",
                             "'search --fidelity') words='analytical stream flow'",
                             "'validate --fidelity') words='analytical stream flow'"})
    {
        EXPECT_NE(script.find(line), std::string::npos) << line;
    }
}

/** The words that bash offers for the last of @p words of a command line. */
std::string
CompletionOf(const std::string& words)
{
    const ScratchFolder folder;
    std::ofstream(folder / "complete.sh")
        << Weir(folder, "reference bash").out << "weir() { :; }\nCOMP_WORDS=(weir " << words
        << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_weir\necho \"${COMPREPLY[*]}\"\n";
    FILE* pipe = popen(("bash " + (folder / "complete.sh")).c_str(), "r");
    std::string out;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    {
        out += static_cast<char>(c);
    }
    pclose(pipe);
    return out;
}

TEST(CommandLine, CompletionOffersTheValuesOfAnOptionElseFiles)
{
    EXPECT_EQ(CompletionOf("flows --congestion-control hp"), "hpcc\n");
    EXPECT_EQ(CompletionOf("flows --routing sp"), "spray\n");
    EXPECT_EQ(CompletionOf("flows --cong"), "--congestion-control\n");
    for (const char* files : {"run a.yaml -o ''", "run a.yaml --timeline ''", "report a.h5 -o ''"})
    {
        EXPECT_EQ(CompletionOf(files), "\n") << files; // no words: bash completes files
    }
}

/** Where no terminal limits the width, titles are whole, so that grep finds their last words. */
TEST(CommandLine, AListInAPipeHasWholeTitles)
{
    const ScratchFolder folder;
    const std::string list = Weir(folder, "list systems").out;
    EXPECT_NE(list.find("8 H100 SXM per node, NVSwitch, 8 x 400 Gb/s NDR InfiniBand\n"),
              std::string::npos)
        << list;
    EXPECT_EQ(list.find("..."), std::string::npos) << list;
}

/** A NIC of two ports is one device for NCCL, which uses both of them. */
TEST(CommandLine, ExplanationsShowAllPortsOfMergedNics)
{
    const ScratchFolder folder;
    const std::string call =
        "collective --system oci-a100 --nodes 2 --op all-reduce --sizes 1MiB --explain";
    EXPECT_NE(Weir(folder, call).out.find("(nic 0-1 > nic 0-1)"), std::string::npos);
    EXPECT_NE(Weir(folder, call + " --merge-nics false").out.find("(nic 1 > nic 1)"),
              std::string::npos);
}

TEST(CommandLine, JsonIsOneObjectAndNothingElse)
{
    const ScratchFolder folder;
    const Outcome outcome = Weir(folder, "run gpt-22b-8-a100-full --fidelity analytical --json");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_GT(nlohmann::json::parse(outcome.out)["step_time_s"], 0);
}

TEST(CommandLine, RunWritesTheFilesItIsAskedFor)
{
    const ScratchFolder folder;
    const Outcome outcome =
        Weir(folder, "run gpt-22b-8-a100-full -o a.h5 --timeline a.json --quiet");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out + outcome.err, "");
    EXPECT_EQ(folder.Files(), 2U);
}

// The event is at 1 s; an all-gather of 1 MiB takes microseconds.
TEST(CommandLine, AnEventAfterTheEndIsSaidToHaveNoEffect)
{
    const ScratchFolder folder;
    std::ofstream(folder / "a.yaml")
        << "system: {base: hgx-h100, nodes: 2}\n"
           "jobs: [{name: a, collective: {op: all-gather, bytes: 1MiB, calls: 1}}]\n"
           "events:\n"
           "  - {kind: background, at: 0s, from: node0/gpu0, to: node1/gpu0, bytes: 1kB}\n"
           "  - {kind: degrade, at: 1s, from: node0/nic0, to: leaf0, factor: 0.5}\n";
    const Outcome outcome = Weir(folder, "run a.yaml --quiet");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(
        outcome.err.rfind("weir: note: a.yaml:5:5: events.1: found it at 1.000 s, which has no "
                          "effect here: the run ends at ",
                          0),
        0U)
        << outcome.err;
    EXPECT_NE(outcome.err.find(" us\n"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
}

TEST(CommandLine, ASlowGpuWithoutComputationIsSaidToHaveNoEffect)
{
    const ScratchFolder folder;
    std::ofstream(folder / "a.yaml")
        << "system: {base: hgx-h100, nodes: 2}\n"
           "jobs: [{name: a, collective: {op: all-gather, bytes: 1MiB, calls: 1}}]\n"
           "events: [{kind: slow-gpu, gpu: node0/gpu0, factor: 2}]\n";
    const Outcome outcome = Weir(folder, "run a.yaml --quiet");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err,
              "weir: note: a.yaml:3:10: events.0: found slow-gpu, which has no effect here: it "
              "needs a training or workload job\n");
}

// A single name is accepted as in NCCL_ALGO and NCCL_PROTO, like lists: case and hyphens are
// ignored.
TEST(CommandLine, AlgorithmsAndProtocolsAreSpeltAsNcclDoes)
{
    const ScratchFolder folder;
    const std::string call =
        "collective --system hgx-h100 --nodes 2 --op all-reduce --sizes 64MiB --algorithm ";
    const Outcome ours = Weir(folder, call + "nvls-tree --protocol simple");
    EXPECT_EQ(ours.exit, 0) << ours.err;
    EXPECT_EQ(Weir(folder, call + "NVLSTree --protocol SIMPLE").out, ours.out);
}

/** With LOC, once 0, even GPUs of an NVSwitch copy through host memory. */
TEST(CommandLine, P2pLevelsSayOverWhichPathsGpusCopy)
{
    const ScratchFolder folder;
    const std::string call =
        "collective --system hgx-h100 --op all-reduce --sizes 1MiB --csv - --p2p-level ";
    const Outcome never = Weir(folder, call + "LOC");
    EXPECT_EQ(never.exit, 0) << never.err;
    EXPECT_NE(Weir(folder, call + "SYS").out, never.out);
    EXPECT_EQ(Weir(folder, call + "0").out, never.out);
}

TEST(CommandLine, FlowsNameTheLocationOfInvalidNetworkValues)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt") << "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    std::ofstream(folder / "f.csv") << "src,dst,bytes,start_s\n0,1,100000,0\n";
    std::ofstream(folder / "n.yaml") << "switch:\n  buffer: 1B\n";
    const std::string call = "flows --topology t.txt --flows f.csv --fidelity packet --quiet ";
    const Outcome outcome = Weir(folder, call + "--network n.yaml");
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_EQ(
        outcome.err,
        "weir: n.yaml:2:11: switch.buffer: found 1 bytes at switch2, expected more than the "
        "75072 bytes of reserve and headroom that the delays, rates and largest packets of its "
        "links require\n");
    const Outcome beside = Weir(folder, call + "--set nodeLinks.nicBuffer=1B"); // no headroom here
    EXPECT_EQ(beside.exit, 0) << beside.err;
}

// The idle round trip is 4 us and 2 (4178 + 84) bytes at 100 Gb/s: 4.682 us.
TEST(CommandLine, TimesBelowAnIdleRoundTripAreSaid)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt") << "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    std::ofstream(folder / "f.csv") << "src,dst,bytes,start_s\n0,1,100000,0\n";
    const std::string call = "flows --topology t.txt --flows f.csv --quiet --fidelity ";
    const std::string below =
        ", below the 4.682 us that a full packet and its acknowledgment take on the idle path from "
        "host0 to host1: ";
    const std::string timeout = " --set queuePair.retransmissionTimeout=";
    for (const std::string form :
         {"packet", "packet --set settle.replay=true", "hybrid --set packets.flows=[0]"})
    {
        EXPECT_EQ(Weir(folder, call + form + timeout + "4us").err,
                  "weir: note: --set queuePair.retransmissionTimeout=4us: "
                  "queuePair.retransmissionTimeout: found 4us" +
                      below + "packets that are not lost are retransmitted, which slows flows\n");
        EXPECT_EQ(Weir(folder, call + form + timeout + "5us").err, "");
    }
    const std::string swift = "--set congestionControl.target=1us";
    EXPECT_EQ(
        Weir(folder,
             call + "packet --congestion-control swift --set congestionControl.perHop=1us " + swift)
            .err,
        "weir: note: " + swift + ": congestionControl.target: found 1us, and with perHop 3.000 us" +
            below + "flows slow down even without contention\n");
    const std::string timely = "--set congestionControl.high=3us";
    EXPECT_EQ(
        Weir(folder,
             call + "packet --congestion-control timely --set congestionControl.low=1us " + timely)
            .err.substr(0, 85),
        ("weir: note: " + timely + ": congestionControl.high: found 3us, below the ")
            .substr(0, 85));
}

// A 100 Gb/s link into a 10 Gb/s link fills a queue of 64 KiB: 15 packets of 4096 + 82 bytes, and
// the last one of 576 + 82.
TEST(CommandLine, FlowsSayWhatPacketsMet)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt") << "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 10Gbps 1us 0\n";
    std::ofstream(folder / "f.csv") << "src,dst,bytes,start_s\n0,1,1000000,0\n";
    const std::string call =
        "flows --topology t.txt --flows f.csv --fidelity packet --set switch.flowControl=none "
        "--set switch.portQueue=64KiB ";
    const Outcome text = Weir(folder, call);
    EXPECT_NE(text.out.find("\n  packets: "), std::string::npos) << text.out;
    EXPECT_NE(text.out.find(" dropped, "), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("; longest queue 63.3 kB at switch2->host1\n"), std::string::npos)
        << text.out;
    const auto packets = nlohmann::json::parse(Weir(folder, call + "--json").out)["packets"];
    EXPECT_GT(packets["drops"], 0);
    EXPECT_GE(packets["retransmissions"], packets["drops"]);
    EXPECT_EQ(packets["pauses"], 0);
    EXPECT_EQ(packets["trims"], 0);
    EXPECT_EQ(packets["longest_queue"], "switch2->host1");
    EXPECT_EQ(packets["longest_queue_bytes"], 15 * (4096 + 82) + 576 + 82);
    EXPECT_EQ(Weir(folder, "flows --topology t.txt --flows f.csv").out.find("packets:"),
              std::string::npos);
}

// Of two flows on one link, the flow in the class with three times the weight ends first.
TEST(CommandLine, PriorityGroupsAreClassesWhereThereAreSeveral)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt")
        << "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n";
    std::ofstream(folder / "n.yaml") << "trafficClasses: 2\nswitch: {losslessClasses: 2}\n"
                                        "arbitration: {lowTable: \"1:64,2:192\"}\n";
    const std::string call =
        "flows --topology t.txt --flows f.txt --fidelity packet --network n.yaml --csv -";
    const auto times = [&](const std::string& first, const std::string& second) {
        std::ofstream(folder / "f.txt")
            << "2\n0 2 " << first << " 100 10000000 0\n1 2 " << second << " 100 10000000 0\n";
        std::istringstream csv(Weir(folder, call).out);
        std::vector<double> found;
        for (std::string line; std::getline(csv, line);)
        {
            std::istringstream fields(line);
            std::string field;
            for (int i = 0; i < 7; i++)
            {
                std::getline(fields, field, ',');
            }
            found.push_back(std::atof(field.c_str()));
        }
        return found;
    };
    const auto ordered = times("1", "2");
    const auto swapped = times("2", "0");
    ASSERT_EQ(ordered.size(), 3U);
    ASSERT_EQ(swapped.size(), 3U);
    EXPECT_NEAR(ordered[2] / ordered[1], (4.0 / 3) / 2, 0.01);
    EXPECT_NEAR(swapped[1] / swapped[2], (4.0 / 3) / 2, 0.01);
    times("1", "3");
    EXPECT_EQ(Weir(folder, call).err,
              "weir: f.txt:3: pg: found '3', expected one of the 2 trafficClasses, from 1 on, or "
              "0: the first\n");
}

// The run ends after 100 kB at 100 Gb/s, 8 us, and 2 us of latency.
TEST(CommandLine, EventsAfterTheLastFlowAreSaid)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt") << "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    std::ofstream(folder / "f.csv") << "src,dst,bytes,start_s\n0,1,100000,0\n";
    std::ofstream(folder / "n.yaml")
        << "events: [{kind: degrade, at: 1s, from: host0, to: switch2, factor: 0.5}]\n";
    EXPECT_EQ(Weir(folder, "flows --topology t.txt --flows f.csv --network n.yaml --quiet").err,
              "weir: note: n.yaml:1:10: events.0: found it at 1.000 s, which has no effect here: "
              "the run ends at 10.00 us\n");
}

// A host of a topology file has no internal links, and a flow is the only message of its queue
// pair.
TEST(CommandLine, KeysOfPacketsWithoutEffectOnFlowsAreSaid)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt") << "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    std::ofstream(folder / "f.csv") << "src,dst,bytes,start_s\n0,1,100000,0\n";
    std::ofstream(folder / "n.yaml") << "queuePair: {messageGap: 1us}\nnodeLinks: {burst: 1KiB}\n";
    EXPECT_EQ(
        Weir(folder,
             "flows --topology t.txt --flows f.csv --fidelity packet --network n.yaml "
             "--quiet")
            .err,
        "weir: note: n.yaml:1:25: queuePair.messageGap: found '1us', which has no effect "
        "here: it needs queue pairs with several messages; each flow of weir flows is a "
        "queue pair\n"
        "weir: note: n.yaml:2:20: nodeLinks.burst: found '1KiB', which has no effect here: it "
        "needs nodes with GPUs, which a topology of hosts lacks\n");
}

TEST(CommandLine, FlowsBesideAFluidHaveAPortSeries)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt") << "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    std::ofstream(folder / "f.csv") << "src,dst,bytes,start_s\n0,1,100000,0\n";
    const Outcome outcome = Weir(folder,
                                 "flows --topology t.txt --flows f.csv --fidelity hybrid --set "
                                 "packets.flows=[0] --port-series 1us -o a.h5 --quiet");
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.exit, 0);
    const std::string result = ScratchFolder::Read(folder / "a.h5");
    EXPECT_NE(result.find("port_series"), std::string::npos);
}

TEST(CommandLine, EndPointsOfTrafficMayBeRanges)
{
    const ScratchFolder folder;
    const auto draw = [&](const std::string& ends) {
        std::ofstream(folder / "f.yaml")
            << "traffic: [{pattern: all-to-all, bytes: 1kB, endPoints: " << ends << "}]\n";
        return Weir(folder, "flows --topology hgx-h100 --nodes 1 --flows f.yaml --csv -");
    };
    EXPECT_EQ(draw("[0-2, 5]").out, draw("[0, 1, 2, 5]").out);
    EXPECT_NE(draw("[0-2, 5]").out, "");
    EXPECT_EQ(draw("[0-2, 1]").err,
              "weir: f.yaml:1:62: traffic.0.endPoints.1: found 1 again, expected each once\n");
    EXPECT_NE(draw("[2-0]").err.find("found '2-0', expected a number from 0 to"),
              std::string::npos);
}

// The only link of a NIC fails permanently.
TEST(CommandLine, ARunThatCannotGoOnLeavesFilesOnlyWhereAsked)
{
    const ScratchFolder folder;
    std::ofstream(folder / "a.yaml")
        << "system: {base: hgx-h100, nodes: 2}\n"
           "jobs: [{name: a, collective: {op: all-gather, bytes: 1GiB, calls: 1}}]\n"
           "events: [{kind: link-down, at: 0s, from: node0/nic0, to: leaf0}]\n";
    const Outcome outcome = Weir(folder, "run a.yaml --quiet -o a.h5 --timeline a.json");
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_EQ(outcome.err,
              "weir: the run stalled: a: all-gather of 16 GPUs: call 0 has not ended; links down: "
              "node0/nic0->leaf0, leaf0->node0/nic0\n");
    EXPECT_EQ(folder.Files(), 1U);
    const Outcome kept = Weir(folder, "run a.yaml --quiet -o a.h5 --keep-partial");
    EXPECT_EQ(kept.exit, 1);
    EXPECT_EQ(folder.Files(), 2U);
}

TEST(CommandLine, SprayingWithoutReorderingIsSaid)
{
    const ScratchFolder folder;
    std::ofstream(folder / "s.yaml") << "{base: hgx-h100, name: s, fabric: {routing: spray}}\n";
    std::ofstream(folder / "f.csv") << "src,dst,bytes,start_s\n0,8,1000,0\n";
    for (const char* arguments :
         {"collective --system s.yaml --nodes 2 --op all-gather --sizes 1KiB --fidelity packet",
          "flows --topology s.yaml --nodes 2 --flows f.csv --fidelity packet --quiet"})
    {
        EXPECT_EQ(Weir(folder, arguments).err, "") << arguments; // recovery is selective
        const Outcome outcome =
            Weir(folder, std::string(arguments) + " --set queuePair.recovery=go-back-n");
        EXPECT_EQ(outcome.exit, 0) << arguments;
        EXPECT_NE(outcome.err.find("queuePair.recovery: found 'go-back-n' with routing 'spray'"),
                  std::string::npos)
            << outcome.err;
        EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    }
}

/** A pipe can be read only once; the notes on its content come from that reading. */
TEST(CommandLine, ANetworkMayBeAPipe)
{
    const ScratchFolder folder;
    std::ofstream(folder / "f.csv") << "src,dst,bytes,start_s\n0,3,1000000,0\n";
    for (const std::string arguments : {"collective --system hgx-h100 --op all-gather --sizes 1KiB",
                                        "flows --topology hgx-h100 --quiet --flows f.csv"})
    {
        const int status =
            std::system(("cd '" + (folder / ".") +
                         "' && echo 'queuePair: {reordering: 64}' | '" WEIR_COMMAND "' " +
                         arguments + " --fidelity packet --network /dev/stdin >out 2>err")
                            .c_str());
        ASSERT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 0) << ScratchFolder::Read(folder / "err");
        EXPECT_NE(ScratchFolder::Read(folder / "err").find("it needs recovery: selective"),
                  std::string::npos);
    }
}

TEST(CommandLine, WhatCannotBePrintedIsAFailure)
{
    const ScratchFolder folder;
    const int status = std::system(
        ("'" WEIR_COMMAND "' list systems >/dev/full 2>'" + (folder / "err") + "'").c_str());
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_EQ(ScratchFolder::Read(folder / "err"), "weir: cannot write to standard output\n");
}

/** A write beyond the size limit of files fails as one on a full disk does. */
TEST(CommandLine, AResultFileThatCannotBeWrittenIsNamedAndLeavesNothing)
{
    const ScratchFolder folder;
    const std::string file = folder / "x.h5";
    const int status = std::system(
        ("trap '' XFSZ; ulimit -f 4; '" WEIR_COMMAND
         "' collective --system hgx-h100 --op all-reduce --sizes 1MiB --fidelity flow -o '" +
         file + "' >/dev/null 2>'" + (folder / "err") + "'")
            .c_str());
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_EQ(ScratchFolder::Read(folder / "err"),
              "weir: cannot write '" + file + "': File too large\n");
    EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(CommandLine, CollectiveWritesItsCsv)
{
    const ScratchFolder folder;
    const Outcome outcome = Weir(
        folder,
        "collective --system dgx-a100 --nodes 2 --op all-gather --sizes 1MiB,3000001 --csv a.csv");
    EXPECT_EQ(outcome.exit, 0);
    const std::string csv = ScratchFolder::Read(folder / "a.csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
    EXPECT_NE(csv.find("\nall-gather,3000001,"), std::string::npos) << csv;
}

/** The same text as in a file, and nothing else. */
TEST(CommandLine, CsvToStandardOutput)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt") << "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    std::ofstream(folder / "f.txt") << "1\n0 1 3 100 1000000 0\n";
    for (const std::string arguments :
         {"collective --system dgx-a100 --op all-gather --sizes 1MiB,2MiB",
          "flows --topology t.txt --flows f.txt"})
    {
        const Outcome piped = Weir(folder, arguments + " --csv -");
        EXPECT_EQ(piped.exit, 0);
        EXPECT_EQ(piped.err, "");
        ASSERT_EQ(Weir(folder, arguments + " --csv a.csv").exit, 0);
        EXPECT_EQ(piped.out, ScratchFolder::Read(folder / "a.csv"));
        std::filesystem::remove(folder / "a.csv");
    }
    EXPECT_EQ(Weir(folder, "flows --topology t.txt --flows f.txt --csv - --set nodes=2").err,
              "weir: --set nodes=2: found it with 't.txt', expected a system: a topology file has "
              "no keys\n");
}

/** --set and the system's file are equivalent, for the nodes (all by default) and the fabric. */
TEST(CommandLine, CollectiveTakesNodesAndFabricFromTheSystem)
{
    const ScratchFolder folder;
    std::ofstream(folder / "s.yaml")
        << "{base: hgx-h100, name: s, nodes: 4, fabric: {kind: leaf-spine, leafRadix: 16, "
           "oversubscription: 4}}\n";
    const std::string call = " --op all-to-all --sizes 64MiB --csv -";
    const Outcome file = Weir(folder, "collective --system s.yaml" + call);
    EXPECT_EQ(file.err, "");
    EXPECT_EQ(Weir(folder,
                   "collective --system hgx-h100 --nodes 4 --set fabric.kind=leaf-spine --set "
                   "fabric.leafRadix=16 --set fabric.oversubscription=4" +
                       call)
                  .out,
              file.out);
    EXPECT_NE(Weir(folder, "collective --system s.yaml --set fabric.oversubscription=1" + call).out,
              file.out);
    EXPECT_NE(Weir(folder, "collective --system s.yaml --nodes 2" + call).out, file.out);
}

/** For a release newer than all known ones. */
TEST(CommandLine, ANewerNcclIsSaidToHaveOlderConstants)
{
    const ScratchFolder folder;
    const std::string call = "collective --system hgx-h100 --op all-reduce --sizes 1MiB --csv - ";
    const Outcome newer = Weir(folder, call + "--nccl 2.99");
    EXPECT_EQ(newer.err,
              "weir: note: --nccl: found 2.99, newer than 2.30.7, whose constants are used\n");
    const Outcome known = Weir(folder, call + "--nccl 2.30.7");
    EXPECT_EQ(known.err, "");
    EXPECT_EQ(newer.out, known.out);
    const Outcome run = Weir(
        folder, "run gpt-22b-8-a100-full --fidelity analytical --quiet --set network.nccl=2.30.8");
    EXPECT_EQ(run.err,
              "weir: note: --set network.nccl=2.30.8: network.nccl: found 2.30.8, newer than "
              "2.30.7, whose constants are used\n");
}

/** A link degraded to zero blocks a run like a failed link, and is named. */
TEST(CommandLine, ARunThatCannotGoOnNamesLinksDegradedToNothing)
{
    const ScratchFolder folder;
    std::ofstream(folder / "a.yaml")
        << "system: {base: hgx-h100, nodes: 2}\n"
           "jobs: [{name: a, collective: {op: all-gather, bytes: 1GiB, calls: 1}}]\n"
           "events: [{kind: degrade, at: 0s, from: node0/nic0, to: leaf0, factor: 0}]\n";
    const Outcome outcome = Weir(folder, "run a.yaml --quiet");
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_EQ(outcome.err,
              "weir: the run stalled: a: all-gather of 16 GPUs: call 0 has not ended; links "
              "degraded to a rate of zero: node0/nic0->leaf0\n");
}

/** The message for a value that the system cannot satisfy contains its position. */
TEST(CommandLine, ValuesThatFitNoSystemAreRefusedAtTheirLocation)
{
    const std::pair<const char*, const char*> cases[] = {
        {"system: {base: hgx-h100, nodes: 100000}\n"
         "jobs: [{name: a, collective: {op: all-gather, bytes: 1MiB, calls: 1}}]\n",
         "weir: a.yaml:1:33: system.nodes: found 100000 of 8 GPUs, expected at most 262144 GPUs\n"},
        {"system: {base: hgx-h100, nodes: 2}\n"
         "jobs: [{name: '', collective: {op: all-gather, bytes: 1MiB, calls: 1}}]\n",
         "weir: a.yaml:2:15: jobs.0.name: found '', expected a name\n"},
        {"system: {base: hgx-h100, nodes: 2}\n"
         "jobs: [{name: a, collective: {op: all-gather, bytes: 1MiB, calls: 1}}]\n"
         "events: [{kind: background, at: 0s, from: node0/gpu0, to: node1/nic0, bytes: 1GB}]\n",
         "weir: a.yaml:3:59: events.0.to: found 'node1/nic0', expected a device that a path from "
         "'node0/gpu0' leads to\n"}};
    for (const auto& [text, expected] : cases)
    {
        const ScratchFolder folder;
        std::ofstream(folder / "a.yaml") << text;
        const Outcome outcome = Weir(folder, "run a.yaml --quiet");
        EXPECT_EQ(outcome.exit, 2);
        EXPECT_EQ(outcome.err, expected);
    }
}

/** Eight NICs per node do not fit on leaves of four ports. */
TEST(CommandLine, ASystemThatCannotBeWiredIsShownWithTheLocationOfItsFault)
{
    const ScratchFolder folder;
    std::ofstream(folder / "a.yaml")
        << "base: hgx-h100\nfabric: {kind: leaf-spine, leafRadix: 4}\n";
    for (const std::string verb : {"show system", "topology show"})
    {
        const Outcome outcome = Weir(folder, verb + " a.yaml");
        EXPECT_EQ(outcome.exit, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_NE(outcome.err.find("/a.yaml:2:39: fabric.leafRadix: found 4 ports"),
                  std::string::npos)
            << outcome.err;
    }
}

/** 1 TB over two links of 100 Gb/s, 80 s each, in bins of 1 us: at least 160 million bins. */
TEST(CommandLine, ALinkSeriesOfTooManyBinsIsRefusedBeforeTheRun)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt") << "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    std::ofstream(folder / "f.txt") << "1\n0 1 3 100 1000000000000 0\n";
    const Outcome outcome =
        Weir(folder, "flows --topology t.txt --flows f.txt --link-series 1us -o a.h5");
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_EQ(outcome.err,
              "weir: link series: found bins of 1us, more than 100 million with traffic, expected "
              "wider ones\n");
    EXPECT_EQ(folder.Files(), 2U);
    // Every GPU receives 1e16 bytes at no more than 371 GB/s: 27 000 s in bins of 1 us.
    std::ofstream(folder / "a.yaml")
        << "system: {base: hgx-h100, nodes: 4}\n"
           "jobs: [{name: a, collective: {op: all-reduce, bytes: 10GB, calls: 1000000}}]\n"
           "output: {file: a.h5, linkSeries: 1us}\n";
    const Outcome run = Weir(folder, "run a.yaml"); // would otherwise take hours
    EXPECT_EQ(run.exit, 2);
    EXPECT_EQ(run.err, outcome.err);
    const Outcome collective = Weir(folder,
                                    "collective --system hgx-h100 --nodes 4 --op all-reduce "
                                    "--sizes 8GiB --link-series 1ns -o a.h5");
    EXPECT_EQ(collective.exit, 2);
    EXPECT_NE(collective.err.find("found bins of 1ns, more than"), std::string::npos);
    EXPECT_EQ(folder.Files(), 3U);
}

TEST(CommandLine, EveryVerbThatMovesBytesWritesResultsAndLinks)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt") << "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    std::ofstream(folder / "f.txt") << "1\n0 1 3 100 1000000 0\n";
    for (const std::string arguments :
         {"run gpt-22b-8-a100-full",
          "collective --system hgx-h100 --op all-reduce --sizes 1MiB,2MiB --fidelity flow",
          "flows --topology t.txt --flows f.txt"})
    {
        const std::string series =
            arguments[0] == 'r' ? " --set output.linkSeries=1ms" : " --link-series 10us";
        const Outcome outcome = Weir(folder, arguments + " -o a.h5 --json" + series);
        ASSERT_EQ(outcome.exit, 0) << outcome.err;
        EXPECT_TRUE(std::filesystem::is_regular_file(folder / "a.h5"));
        const auto json = nlohmann::json::parse(outcome.out);
        EXPECT_FALSE(json["busiest_links"].empty()) << arguments;
        EXPECT_GT(json["links_window_s"][1], 0) << arguments;
    }
}

/**
 * Pauses and queues of an incast are in the result file and in the timeline: pauses as events that
 * do not overlap, queues as counters that end at zero. Two runs write the same bytes.
 */
TEST(CommandLine, PortSeriesAreInResultsAndTimeline)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt")
        << "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n";
    std::ofstream(folder / "f.txt") << "2\n0 2 3 100 4000000 0\n1 2 3 100 4000000 0\n";
    const std::string arguments =
        "flows --topology t.txt --flows f.txt --fidelity packet --congestion-control none --set "
        "switch.flowControl=pfc --set switch.buffer=1MiB --port-series 1us --quiet -o ";
    ASSERT_EQ(Weir(folder, arguments + "a.h5 --timeline a.json").exit, 0);
    ASSERT_EQ(Weir(folder, arguments + "b.h5 --timeline b.json").exit, 0);
    EXPECT_EQ(ScratchFolder::Read(folder / "a.h5"), ScratchFolder::Read(folder / "b.h5"));
    const std::string timeline = ScratchFolder::Read(folder / "a.json");
    EXPECT_EQ(timeline, ScratchFolder::Read(folder / "b.json"));
    std::map<uint32_t, double> ends;           // end of the last pause, by thread
    std::map<std::string, double> lastCounter; // by name
    std::size_t pauses = 0;
    const auto json = nlohmann::json::parse(timeline);
    for (const auto& event : json["traceEvents"])
    {
        if (event["ph"] == "X" && event["cat"] == "pause")
        {
            double& end = ends[event["tid"].get<uint32_t>()];
            EXPECT_GE(event["ts"].get<double>(), end);
            end = event["ts"].get<double>() + event["dur"].get<double>();
            pauses++;
        }
        else if (event["ph"] == "C")
        {
            lastCounter[event["name"].get<std::string>()] = event["args"]["max bytes"];
        }
    }
    EXPECT_EQ(ends.size(), 2u); // both senders
    EXPECT_GT(pauses, 4u);
    ASSERT_EQ(lastCounter.count("queue switch3->host2"), 1u);
    EXPECT_EQ(lastCounter["queue switch3->host2"], 0);
    EXPECT_EQ(json["pausesLeftOut"], 0);
}

/**
 * A configuration of HPCC's simulator names its files relative to the folder above and contains all
 * settings.
 */
TEST(CommandLine, RunsAConfigurationOfHpccsSimulator)
{
    const ScratchFolder folder;
    std::filesystem::create_directory(folder / "mix");
    std::ofstream(folder / "mix/t.txt")
        << "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n";
    std::ofstream(folder / "mix/f.txt") << "2\n0 2 3 100 400000 2\n1 2 3 100 400000 2\n";
    std::ofstream(folder / "mix/config.txt")
        << "ENABLE_QCN 1\nTOPOLOGY_FILE mix/t.txt\nFLOW_FILE mix/f.txt\nCC_MODE 3\nHAS_WIN 1\n"
           "VAR_WIN 1\nRATE_AI 50Mb/s\nMI_THRESH 0\nBUFFER_SIZE 32\n";
    const std::string packet = " --fidelity packet --quiet --csv ";
    ASSERT_EQ(Weir(folder, "flows --network mix/config.txt" + packet + "a.csv").exit, 0);
    ASSERT_EQ(Weir(folder,
                   "flows --network mix/config.txt --topology mix/t.txt --flows mix/f.txt" +
                       packet + "b.csv")
                  .exit,
              0);
    EXPECT_EQ(ScratchFolder::Read(folder / "a.csv"), ScratchFolder::Read(folder / "b.csv"));
    const std::string with =
        " with --network mix/config.txt, a configuration of HPCC's simulator, expected ";
    for (const auto& [option, refusal] : std::map<std::string, std::string>{
             {"--fidelity packet --congestion-control none",
              "--congestion-control: found 'none'" + with +
                  "no such option: its CC_MODE selects the congestion control"},
             {"--fidelity packet --topology hgx-h100",
              "--topology: found 'hgx-h100'" + with + "a topology file of that simulator"},
             {"--fidelity flow", "--fidelity: found 'flow'" + with + "packet"}})
    {
        const Outcome refused = Weir(folder, "flows --network mix/config.txt " + option);
        EXPECT_EQ(refused.exit, 2) << option;
        EXPECT_EQ(refused.err, "weir: " + refusal + "\n");
    }
    ASSERT_EQ(Weir(folder,
                   "flows --network mix/config.txt --set congestionControl.utilization=0.5" +
                       packet + "d.csv")
                  .exit,
              0);
    EXPECT_NE(ScratchFolder::Read(folder / "a.csv"), ScratchFolder::Read(folder / "d.csv"));
    const Outcome without = Weir(folder, "flows --topology mix/t.txt");
    EXPECT_EQ(without.exit, 2);
    EXPECT_NE(without.err.find("found no --flows, expected"), std::string::npos) << without.err;
}

/**
 * weir flows and weir collective accept corrections of a fluid. With forwarding, a message of 4096
 * bytes over two links of 100 Gb/s is stored by the switch before it is forwarded, 327.68 ns later
 * than in a fluid.
 */
TEST(CommandLine, CorrectsAFluid)
{
    const ScratchFolder folder;
    std::ofstream(folder / "t.txt") << "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    std::ofstream(folder / "f.txt") << "1\n0 1 3 100 4096 2\n";
    const std::string flows = "flows --topology t.txt --flows f.txt --json";
    const auto meanOf = [&](const std::string& more) {
        const Outcome outcome = Weir(folder, flows + more);
        EXPECT_EQ(outcome.exit, 0) << outcome.err;
        return nlohmann::json::parse(outcome.out);
    };
    const auto fluid = meanOf(" --csv a.csv");
    const auto corrected = meanOf(" --set corrections.forwarding.packet=4KiB --csv b.csv");
    EXPECT_EQ(fluid.count("corrections"), 0u);
    EXPECT_EQ(corrected.count("corrections"), 1u);
    const auto finishOf = [&](const std::string& file) {
        std::ifstream lines(folder / file);
        std::string line;
        std::getline(lines, line);
        std::getline(lines, line); // flow,src,dst,bytes,start_s,finish_s,fct_s,...
        for (int i = 0; i < 6; i++)
        {
            line = line.substr(line.find(',') + 1);
        }
        return std::stod(line);
    };
    // Two links of 1 us, and 4096 bytes at 100 Gb/s; with the correction the switch receives the
    // packet whole before it forwards it.
    const double packet = 4096 * 8 / 100e9;
    EXPECT_NEAR(finishOf("a.csv"), 2e-6 + packet, 1e-11);
    EXPECT_NEAR(finishOf("b.csv"), 2e-6 + 2 * packet, 1e-11);
    EXPECT_EQ(meanOf(" --set corrections=roce-dcqcn")["corrections"], "roce-dcqcn");
    std::ofstream(folder / "net.yaml") << "{corrections: roce}\n";
    EXPECT_EQ(meanOf(" --network net.yaml")["corrections"], "roce");

    const std::string collective =
        "collective --system hgx-h100 --nodes 2 --op all-reduce --sizes 16MiB --algorithm ring "
        "--protocol simple --json ";
    const auto timeOf = [&](const std::string& more) {
        const Outcome outcome = Weir(folder, collective + more);
        EXPECT_EQ(outcome.exit, 0) << outcome.err;
        return nlohmann::json::parse(outcome.out)["points"][0]["time_us"].get<double>();
    };
    EXPECT_GT(timeOf("--fidelity flow --set corrections.forwarding.packet=64KiB"),
              timeOf("--fidelity flow"));
    EXPECT_NE(Weir(folder, collective + "--fidelity analytical --set corrections=roce")
                  .err.find("--set corrections=roce: found it with fidelity analytical"),
              std::string::npos);
    std::ofstream(folder / "both.yaml") << "packets: {links: [\"*\"]}\n";
    const std::string hybrid = flows + " --fidelity hybrid --network both.yaml --set corrections=";
    EXPECT_EQ(Weir(folder, hybrid + "roce-dcqcn").exit, 0);
    EXPECT_NE(
        Weir(folder, hybrid + "roce")
            .err.find("--set corrections=roce: corrections: found ingress with fidelity hybrid"),
        std::string::npos);
    EXPECT_NE(Weir(folder, flows + " --fidelity packet --set corrections=roce")
                  .err.find("corrections: found the unknown key"),
              std::string::npos);
    EXPECT_NE(Weir(folder, flows + " --set corrections=roc").err.find("did you mean 'roce'?"),
              std::string::npos);
    EXPECT_NE(Weir(folder,
                   flows + " --set corrections.ingress.shares=true"
                           " --set corrections.recovery.period=300us")
                  .err.find("corrections.ingress: found it with recovery, expected one of them"),
              std::string::npos);
    EXPECT_NE(Weir(folder, flows + " --set corrections.ingress.blocking=0.5")
                  .err.find("expected a value for 'shares'"),
              std::string::npos);
}

/** The keys of @p object, in order. */
std::vector<std::string>
KeysOf(const nlohmann::ordered_json& object)
{
    std::vector<std::string> keys;
    for (const auto& item : object.items())
    {
        keys.push_back(item.key());
    }
    return keys;
}

TEST(CommandLine, AListIsTheSameAsJsonAndAsATable)
{
    const ScratchFolder folder;
    for (const std::string kind : {"systems", "models", "runs", "gpus", "corrections", "suites"})
    {
        const Outcome json = Weir(folder, "list " + kind + " --json");
        EXPECT_EQ(json.err, "");
        const auto list = nlohmann::ordered_json::parse(json.out);
        ASSERT_FALSE(list.empty());
        std::istringstream table(Weir(folder, "list " + kind).out);
        std::string line;
        for (const auto& entry : list)
        {
            EXPECT_EQ(KeysOf(entry), (std::vector<std::string>{"name", "title", "path"}));
            EXPECT_TRUE(std::filesystem::is_regular_file(entry["path"].get<std::string>()));
            ASSERT_TRUE(std::getline(table, line)) << entry;
            const std::string name = entry["name"];
            const std::string begin = entry["title"].get<std::string>().substr(0, 40);
            EXPECT_EQ((line + " ").rfind(name + " ", 0), 0U) << line;
            EXPECT_NE(line.find(begin), std::string::npos) << line;
        }
        EXPECT_FALSE(std::getline(table, line)) << line;
    }
}

// A result file has a group for each suite, by its name.
TEST(CommandLine, SuitesOfTheSameNameAreRefused)
{
    const ScratchFolder folder;
    for (const std::string part : {"a", "b"})
    {
        std::filesystem::create_directory(folder / part);
        std::ofstream(folder / (part + "/mine.yaml"))
            << "{title: t, citation: c, url: u, cases: [{name: n, run: gpt-22b-8-a100-full, "
               "measured: {step_time_s: 1}}]}";
    }
    const Outcome one = Weir(folder, "validate a/mine.yaml -o v.h5");
    EXPECT_EQ(one.out.rfind("mine: t\n", 0), 0U) << one.out;
    EXPECT_EQ(one.exit, 0) << one.err;
    const Outcome both = Weir(folder, "validate a/mine.yaml b/mine.yaml -o v.h5");
    EXPECT_EQ(both.exit, 2);
    EXPECT_EQ(both.err,
              "weir: SUITE: found 'a/mine.yaml' and 'b/mine.yaml', which are both named 'mine', "
              "expected suites of different names\n");
}

// The table shows percentages with one decimal.
TEST(CommandLine, AValidationIsTheSameAsJsonAndAsATable)
{
    const ScratchFolder folder;
    const Outcome json = Weir(folder, "validate korthikanti-2022 --json --rows");
    EXPECT_EQ(json.err, "");
    const auto object = nlohmann::ordered_json::parse(json.out);
    EXPECT_EQ(KeysOf(object), (std::vector<std::string>{"suites", "met"}));
    ASSERT_EQ(object["suites"].size(), 1U);
    const auto& suite = object["suites"][0];
    for (const char* key : {"name", "title", "url", "errors", "expected", "guard", "met", "rows"})
    {
        EXPECT_TRUE(suite.contains(key)) << key;
    }
    const Outcome table = Weir(folder, "validate korthikanti-2022 --rows");
    EXPECT_EQ(object["met"].get<bool>(), table.exit == 0);
    EXPECT_EQ(json.exit, table.exit);
    const auto percent = [](const std::string& format, double share) {
        char text[32];
        std::snprintf(text, sizeof text, format.c_str(), 100 * share);
        return std::string(text);
    };
    const auto lineOf = [&](const std::string& begin) {
        const std::size_t at = table.out.find("\n  " + begin + " ");
        EXPECT_NE(at, std::string::npos) << begin;
        return table.out.substr(at + 1, table.out.find('\n', at + 1) - at - 1);
    };
    ASSERT_EQ(suite["rows"].size(), 4U);
    for (const auto& row : suite["rows"])
    {
        const std::string line = lineOf(row["case"]);
        EXPECT_NE(line.find(percent("%+.1f %%", row["error"])), std::string::npos) << line;
        EXPECT_NEAR(row["predicted_s"].get<double>() / row["measured_s"].get<double>() - 1,
                    row["error"],
                    1e-9);
    }
    for (const auto& each : suite["errors"])
    {
        const std::string line = lineOf(each["class"]);
        EXPECT_NE(line.find(" " + each["cases"].dump() + " "), std::string::npos) << line;
        EXPECT_NE(line.find(percent("%.1f %%", each["mean"])), std::string::npos) << line;
        EXPECT_NE(line.find(percent("%.1f %%", each["p90"])), std::string::npos) << line;
        EXPECT_NE(line.find(percent("%+.1f %%", each["bias"])), std::string::npos) << line;
    }
}

TEST(CommandLine, ListAndShowKnowEachOthersNames)
{
    const ScratchFolder folder;
    for (const std::string kind : {"system", "model", "run", "gpu", "suite"})
    {
        const Outcome list = Weir(folder, "list " + kind + "s");
        ASSERT_EQ(list.exit, 0) << list.err;
        const std::string name = list.out.substr(0, list.out.find_first_of(" \n"));
        const Outcome show = Weir(folder, "show " + kind + " " + name);
        EXPECT_EQ(show.exit, 0) << show.err;
        EXPECT_NE(show.out, "");
    }
}

} // namespace
} // namespace weir
