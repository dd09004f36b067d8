// SPDX-License-Identifier: GPL-2.0-only
#include "refusal.h"
#include "scratch-folder.h"
#include "trace-samples.h"

#include "scenarios/traces/collective-fields.h"
#include "scenarios/traces/goal-schedule.h"
#include "scenarios/traces/import-traces.h"
#include "scenarios/traces/trace-formats.h"
#include "scenarios/workload/workload-file.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

/**
 * @file
 * Events read from traces, and the workload made from the events of all ranks.
 */
namespace weir
{
namespace
{

TraceFile
Read(const std::string& name, const std::string& bytes, const TraceOptions& options = {})
{
    return ReadTrace({name, bytes}, options);
}

Workload
MakeOf(const std::vector<TraceFile>& files, const TraceOptions& options = {})
{
    return MakeWorkload(MatchCalls(files, options));
}

const std::vector<StepOp>&
OpsOf(const Workload& workload, uint32_t rank, StreamKind stream)
{
    return workload.graph.programs[workload.graph.rankProgram[rank]]
        .streams[static_cast<std::size_t>(stream)];
}

std::vector<StepOp>
AllOpsOf(const Workload& workload, uint32_t rank)
{
    std::vector<StepOp> all;
    for (const auto& ops : workload.graph.programs[workload.graph.rankProgram[rank]].streams)
    {
        all.insert(all.end(), ops.begin(), ops.end());
    }
    return all;
}

TEST(ImportTraces, AChakraNodeIsAnEvent)
{
    const TraceFile file = Read("a.1.et", ChakraStep(4096));
    EXPECT_EQ(file.dialect, "Chakra ET 0.0.4 (protobuf)");
    EXPECT_EQ(file.nodes, 2U);
    ASSERT_EQ(file.ranks.size(), 1U);
    EXPECT_EQ(file.ranks[0].rank, 1U);
    const auto& events = file.ranks[0].events;
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].kind, TraceEventKind::Compute);
    EXPECT_EQ(events[0].duration, Time::Microseconds(10));
    EXPECT_EQ(events[1].kind, TraceEventKind::Collective);
    EXPECT_EQ(events[1].in, Bytes(4096));
    EXPECT_EQ(events[1].after, std::vector<uint32_t>{0}); // id 0 is written by its absence
}

// Trace writers use different types: int64 (9), uint32 (11), sint64 (17, zigzag), fixed64 (21) and
// double (3) occur.
TEST(ImportTraces, AnyNumberIsTakenForAChakraAttribute)
{
    const auto sizeOf = [](const std::string& attribute) {
        return Read("a.0.et", ChakraFile({{3, "x", 7, 0, {}, {attribute}}}))
            .ranks[0]
            .events[0]
            .in.Count();
    };
    const std::string type = "all_reduce"; // names the operation that comm_type does not
    const auto named = [&](const std::string& attribute) {
        return Read("a.0.et", ChakraFile({{3, type, 7, 0, {}, {attribute}}}))
            .ranks[0]
            .events[0]
            .in.Count();
    };
    EXPECT_EQ(named(ChakraAttributeOf("comm_size", 77, 9)), 77);
    EXPECT_EQ(named(ChakraAttributeOf("comm_size", 77, 11)), 77);
    EXPECT_EQ(named(ChakraAttributeOf("comm_size", 77, 13)), 77);
    EXPECT_EQ(named(ChakraAttributeOf("comm_size", 154, 17)), 77);
    const std::string fixed(
        "\x0a\x09"
        "comm_size\xa9\x01\x4d\0\0\0\0\0\0\0",
        11 + 10);
    EXPECT_EQ(named(fixed), 77);
    EXPECT_NE(RefusalOf([&] { named(ChakraAttributeOf("comm_size", 3, 17)); }).find("node 3"),
              std::string::npos); // zigzag of -2
    EXPECT_NE(RefusalOf([&] { sizeOf(ChakraAttributeOf("comm_size", 1)); }).find("comm_type"),
              std::string::npos);
}

// A process group may be a number, of which 0 is one, too.
TEST(ImportTraces, AChakraGroupMayBeANumber)
{
    const auto groupOf = [](const std::string& attribute) {
        return Read("a.0.et", ChakraFile({{1, "all_reduce", 7, 0, {}, {attribute}}}))
            .ranks[0]
            .events[0]
            .group;
    };
    EXPECT_EQ(groupOf(ChakraAttributeOf("pg_name", 0)), "0");
    EXPECT_EQ(groupOf(ChakraAttributeOf("pg_name", 12)), "12");
    EXPECT_EQ(groupOf(WireWriter().Text(1, "pg_name").Text(29, "").Bytes()), "");
}

TEST(ImportTraces, TheJsonTwinOfAChakraTraceIsTheSameGraph)
{
    const TraceFile twin = Read("a.0.json", R"({"workload_graph": [
        {"Id": 0, "Name": "layer", "NodeType": 4, "runtime": 10, "is_cpu_op": false},
        {"Id": 1, "Name": "all-reduce", "NodeType": 7, "data_deps": [0], "is_cpu_op": false,
         "comm_type": 0, "comm_size": 4096}]})");
    const TraceFile file = Read("a.0.et", ChakraStep(4096));
    ASSERT_EQ(twin.ranks[0].events.size(), file.ranks[0].events.size());
    for (std::size_t i = 0; i < 2; i++)
    {
        EXPECT_EQ(twin.ranks[0].events[i].kind, file.ranks[0].events[i].kind);
        EXPECT_EQ(twin.ranks[0].events[i].in, file.ranks[0].events[i].in);
        EXPECT_EQ(twin.ranks[0].events[i].after, file.ranks[0].events[i].after);
    }
}

TEST(ImportTraces, AHostTraceCountsACollectiveOfFourViewsOnce)
{
    const TraceFile file =
        Read("rank-0.json", HostTrace(HostCallNodes(10, "allreduce", "[]", "[]", 1000, 1000, 0)));
    EXPECT_EQ(file.dialect, "PyTorch ExecutionTrace 1.1.0-chakra.0.0.4");
    EXPECT_EQ(file.nodes, 4U);
    ASSERT_EQ(file.ranks[0].events.size(), 1U);
    const TraceEvent& event = file.ranks[0].events[0];
    EXPECT_EQ(event.op, CollectiveOp::AllReduce);
    EXPECT_EQ(event.in, Bytes(4000));
    EXPECT_EQ(event.id, "node 11");
    EXPECT_EQ(file.ranks[0].hostCalls[0].recordIds, (std::vector<uint64_t>{111, 110, 112}));
}

// In schema 1.0.1 attributes are members of the node, the first value is a bare tensor and the
// group a handle.
TEST(ImportTraces, OldHostTracesArePositional)
{
    const TraceFile file = Read("worker3_step_12.json", R"({"schema": "1.0.1", "nodes": [
        {"id": 7, "name": "record_param_comms", "parent": 2, "rf_id": 4, "inputs":
         [[5, 6, 0, 12, 8, "cuda:0"], 1, 94127, 3, "all_to_allv", [1, 3], [2, 2]],
         "outputs": [[8, 9, 0, 12, 8, "cuda:0"]]},
        {"id": 9, "name": "record_param_comms", "parent": 2, "rf_id": 6, "inputs":
         [1, 0, 3, "wait", [], []], "outputs": []}]})");
    EXPECT_EQ(file.ranks[0].rank, 3U);
    ASSERT_EQ(file.ranks[0].events.size(), 1U);
    const TraceEvent& event = file.ranks[0].events[0];
    EXPECT_EQ(event.op, CollectiveOp::AllToAll);
    EXPECT_EQ(event.inSplits, (std::vector<Bytes>{Bytes(24), Bytes(72)}));
    EXPECT_EQ(event.outSplits, (std::vector<Bytes>{Bytes(48), Bytes(48)}));
    EXPECT_EQ(file.dropped.at("wait"), 1U);
}

TEST(ImportTraces, KernelsKeepTheirTimesAndLaunches)
{
    const TraceFile file = Read("a.json", KinetoTrace(1, KINETO_CALL));
    EXPECT_EQ(file.kernels, 3U);
    const RankTrace& rank = file.ranks[0];
    EXPECT_EQ(rank.rank, 1U);
    ASSERT_EQ(rank.events.size(), 3U);
    EXPECT_EQ(rank.events[0].begin, Time::Microseconds(1.25));
    EXPECT_EQ(rank.events[0].duration, Time::Microseconds(20));
    EXPECT_EQ(rank.events[1].launch, Time::Microseconds(5));
    EXPECT_EQ(rank.events[1].in, Bytes(4000));
    EXPECT_EQ(rank.events[1].channels, 4U);
    EXPECT_EQ(rank.events[1].after, std::vector<uint32_t>{0});
    EXPECT_EQ(rank.events[2].after, std::vector<uint32_t>{1}); // after cudaStreamWaitEvent
}

// The GPU is idle from 21 us on. The CPU returns from its synchronization at 26 us and has launched
// the next kernel at 29 us: 8 us after the GPU's last kernel, also where that ends later.
TEST(ImportTraces, LaunchesAfterASynchronizationCountFromTheIdleGpu)
{
    const auto call = [](const char* name, const char* ts, const char* dur, const char* id) {
        return KinetoEventOf("cuda_runtime", name, ts, dur, std::string(R"("correlation": )") + id);
    };
    const auto kernel = [](const char* ts, const char* dur, const char* id) {
        return KinetoEventOf(
            "kernel", "gemm", ts, dur, std::string(R"("stream": 7, "correlation": )") + id);
    };
    const TraceFile file = Read("a.json",
                                R"({"traceEvents": [)" + call("cudaLaunchKernel", "0", "1", "1") +
                                    "," + call("cudaDeviceSynchronize", "2", "24", "2") + "," +
                                    call("cudaLaunchKernel", "26", "3", "3") + "," +
                                    kernel("1", "20", "1") + "," + kernel("29", "4", "3") + "]}");
    const auto& events = file.ranks[0].events;
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1].epoch, 1U);
    EXPECT_EQ(events[1].launch, Time::Microseconds(8));
}

TEST(ImportTraces, ListsOfEventsMayBeginWithBlanks)
{
    const TraceFile file = Read("a.json", R"(
        [{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 20, "args": {"stream": 7}}])");
    EXPECT_EQ(file.dialect, "Kineto (schemaVersion 0, us resolution)");
    EXPECT_EQ(file.kernels, 1U);
}

TEST(ImportTraces, OlderKernelTracesTakeSizesFromTheHostTrace)
{
    std::vector<TraceFile> files{
        Read("et.json", HostTrace(HostCallNodes(10, "allreduce", "[]", "[]", 1000, 1000, 0))),
        Read("kineto.json", KinetoTrace(0, ""))};
    EXPECT_EQ(files[1].ranks[0].events[1].in, Bytes());
    JoinHostTrace(files[0], files[1]);
    const TraceEvent& event = files[1].ranks[0].events[1];
    EXPECT_EQ(event.in, Bytes(4000));
    EXPECT_EQ(event.group, "0");
    EXPECT_EQ(event.duration, Time::Microseconds(50));
    EXPECT_EQ(event.stream, 20);
}

TEST(ImportTraces, TwoRanksOfKernelTracesMakeAWorkload)
{
    const Workload workload = MakeOf(
        {Read("a.json", KinetoTrace(1, KINETO_CALL)), Read("b.json", KinetoTrace(0, KINETO_CALL))});
    EXPECT_EQ(workload.graph.RankCount(), 2U);
    EXPECT_EQ(workload.graph.programs.size(), 1U); // equal programs are stored once
    const auto& kernels = OpsOf(workload, 0, StreamKind::Compute);
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[1].duration, Time::Microseconds(5.5));
    EXPECT_EQ(kernels[1].launch, Time::Microseconds(6));
    EXPECT_EQ(kernels[1].dependencyCount, 1U);
    const auto& calls = OpsOf(workload, 0, StreamKind::TensorComm);
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(calls[0].bytes, Bytes(4000));
}

/** Arguments of an all-reduce of 1000 elements of @p type on @p size ranks, as PyTorch 2.3 writes.
 */
std::string
CallOf(const std::string& type, int size, const std::string& ranks)
{
    return R"(, "Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000,
        "Group size": )" +
           std::to_string(size) + R"(, "dtype": ")" + type +
           R"(", "Process Group Name": "7", "Process Group Ranks": ")" + ranks + "\"";
}

/** The kernel trace of rank 0 of @p world ranks; its process groups are only in its kernels. */
std::string
KernelTraceOf(int world, const std::string& callArguments)
{
    std::string text = KinetoTrace(0, callArguments);
    const std::string two = R"("world_size": 2, "pg_config")";
    text.replace(
        text.find(two), two.size(), R"("world_size": )" + std::to_string(world) + R"(, "other")");
    return text;
}

// PyTorch abbreviates lists of more than 30: of ranks 0, 8 ... 504 it writes 29 and the last. The
// 512 ranks form 8 such groups, whose first ranks are 0 to 7.
TEST(ImportTraces, AbbreviatedRanksAreCompleted)
{
    std::string ranks = "[0";
    for (int i = 1; i < 29; i++)
    {
        ranks += ", " + std::to_string(8 * i);
    }
    ranks += ", ..., 504]";
    TraceOptions options;
    options.ranks = 512;
    const auto groupsOf = [&](const std::string& list) {
        return MakeOf({Read("a.json", KernelTraceOf(512, CallOf("Float", 64, list)))}, options)
            .graph.groups;
    };
    const auto groups = groupsOf(ranks);
    ASSERT_EQ(groups.size(), 8U);
    for (std::size_t i = 0; i < 64; i++)
    {
        EXPECT_EQ(groups[3][i], Rank(3 + 8 * i));
    }
    // Of uneven ranks only the number is known.
    const ScratchFolder folder;
    std::ofstream(folder / "a.json")
        << KernelTraceOf(512, CallOf("Float", 64, "[0, 1, 3, ..., 504]"));
    const TraceFile uneven = ReadTraces({folder / "a.json"}, options).at(0);
    EXPECT_EQ(uneven.remarks.at(0),
              "1 process groups do not list their ranks: taken as adjacent ranks (--groups)");
    EXPECT_EQ(RefusalOf([&] { groupsOf("[0, 70000]"); }),
              "a.json: event 6, Process Group Ranks: found 70000, expected a whole number of 0 to "
              "65535");
}

// A tensor group of 8 of 512 ranks is no group of all ranks: 64 groups of adjacent ranks.
TEST(ImportTraces, TheWorldOfAKernelTraceIsItsOwn)
{
    const TraceFile file =
        Read("a.json", KernelTraceOf(512, CallOf("Float", 8, "[0, 1, 2, 3, 4, 5, 6, 7]")));
    TraceOptions options;
    options.ranks = 512;
    EXPECT_EQ(MakeOf({file}, options).graph.groups.size(), 64U);
    EXPECT_NE(RefusalOf([&] { MakeOf({file}); }).find("found 1 of 512 ranks"), std::string::npos);
}

// 1000 elements of two doubles are 16 000 B; without a type they have no size, and the collective
// keeps its recorded 50 us.
TEST(ImportTraces, ElementsOfUnknownTypeHaveNoSize)
{
    const auto eventOf = [](const std::string& type) {
        return Read("a.json", KernelTraceOf(2, CallOf(type, 2, "[0, 1]"))).ranks[0].events[1];
    };
    EXPECT_EQ(eventOf("ComplexDouble").in, Bytes(16000));
    EXPECT_EQ(eventOf("ComplexHalf").in, Bytes(4000));
    EXPECT_EQ(eventOf("Float4_e2m1fn_x2").in, Bytes(1000));
    EXPECT_EQ(eventOf("").in, Bytes());
    TraceOptions options;
    options.ranks = 2;
    const Workload workload =
        MakeOf({Read("a.json", KernelTraceOf(2, CallOf("", 2, "[0, 1]")))}, options);
    EXPECT_EQ(OpsOf(workload, 0, StreamKind::Compute).at(0).duration, Time::Microseconds(50));
    EXPECT_EQ(workload.remarks.at(1),
              "1 collectives have no size in the trace: they keep their recorded time");
}

// Equal operations and times, but other memory traffic: communication slows such a kernel
// otherwise.
TEST(ImportTraces, KernelsOfOtherMemoryTrafficAreOtherPrograms)
{
    const auto trace = [](const char* name, uint64_t bytes) {
        return Read(name,
                    ChakraFile({{0,
                                 "layer",
                                 4,
                                 10,
                                 {},
                                 {ChakraAttributeOf("is_cpu_op", 0, 27),
                                  ChakraAttributeOf("num_ops", 1000),
                                  ChakraAttributeOf("tensor_size", bytes)}}}));
    };
    const Workload workload = MakeOf({trace("a.0.et", 64), trace("a.1.et", 128)});
    ASSERT_EQ(workload.graph.programs.size(), 2U);
    for (uint32_t rank = 0; rank < 2; rank++)
    {
        const StepOp& op = OpsOf(workload, rank, StreamKind::Compute).at(0);
        EXPECT_EQ(workload.graph.kernels.at(op.firstKernel).bytes, Bytes(rank == 0 ? 64 : 128));
    }
    EXPECT_EQ(MakeOf({trace("a.0.et", 64), trace("a.1.et", 64)}).graph.programs.size(), 1U);
}

// On rank 0, a waits for the first kernel and b for the second; on rank 1, a waits for the second
// and b for the first. Both ranks have one dependency on each kernel.
TEST(ImportTraces, OperationsOfOtherDependenciesAreOtherPrograms)
{
    const auto trace = [](const char* name, uint64_t needOfA, uint64_t needOfB) {
        const auto node = [](uint64_t id,
                             const char* label,
                             uint64_t micros,
                             std::vector<uint64_t> needs,
                             uint64_t stream) {
            return ChakraSample{
                id,
                label,
                4,
                micros,
                std::move(needs),
                {ChakraAttributeOf("is_cpu_op", 0, 27), ChakraAttributeOf("stream", stream)}};
        };
        return Read(name,
                    ChakraFile({node(0, "first", 10, {}, 7),
                                node(1, "second", 10, {0}, 7),
                                node(2, "a", 1, {needOfA}, 8),
                                node(3, "b", 1, {needOfB}, 9)}));
    };
    const Workload workload = MakeOf({trace("a.0.et", 0, 1), trace("a.1.et", 1, 0)});
    ASSERT_EQ(workload.graph.programs.size(), 2U);
    for (uint32_t rank = 0; rank < 2; rank++)
    {
        const StepProgram& program = workload.graph.programs[workload.graph.rankProgram[rank]];
        const StepOp& a = program.streams.at(1).at(0);
        EXPECT_EQ(program.dependencies.at(a.firstDependency).position, rank);
    }
}

TEST(ImportTraces, UnevenAllToAllsKeepWhoGivesWhomHowMuch)
{
    const auto trace = [](int rank, const char* in, const char* out) {
        return Read("rank-" + std::to_string(rank) + ".json",
                    HostTrace(HostCallNodes(10, "all_to_allv", in, out, 40, 40, rank)));
    };
    const Workload workload = MakeOf({trace(0, "[1, 3]", "[1, 3]"), trace(1, "[3, 1]", "[3, 1]")});
    ASSERT_EQ(workload.graph.traffics.size(), 1U);
    EXPECT_EQ(workload.graph.traffics[0],
              (TrafficParts{{Bytes(40), Bytes(120)}, {Bytes(120), Bytes(40)}}));
    const std::string refusal = RefusalOf([&] {
        MakeOf({trace(0, "[1, 3]", "[1, 3]"), trace(1, "[2, 2]", "[3, 1]")});
    });
    EXPECT_NE(refusal.find("rank-0.json: node 11: found a part of 120 B from rank 1, expected 80"),
              std::string::npos)
        << refusal;
}

TEST(ImportTraces, RanksThatDisagreeAreRefused)
{
    const auto other = [](uint64_t bytes) { return Read("b.1.et", ChakraStep(bytes)); };
    const TraceFile one = Read("a.0.et", ChakraStep(4096));
    EXPECT_EQ(RefusalOf([&] {
                  MakeOf({one, other(4097)});
              }),
              "b.1.et: node 1: found all-reduce of 4097 B, expected all-reduce of 4096 B as in "
              "a.0.et: node 1");
    const TraceFile none = Read("b.1.et", ChakraFile({{0, "layer", 4, 10, {}, {}}}));
    EXPECT_NE(RefusalOf([&] {
                  MakeOf({one, none});
              }).find("that rank 1 does not take part in"),
              std::string::npos);
    EXPECT_NE(RefusalOf([&] { MakeOf({other(1)}); }).find("but not rank 0"), std::string::npos);
    EXPECT_NE(RefusalOf([&] { MakeOf({one, one}); }).find("expected each once"), std::string::npos);
}

TEST(ImportTraces, SendsMeetReceivesOfTheirTag)
{
    const auto pair = [](uint64_t type, const char* peer, uint64_t rank, uint64_t tag) {
        return ChakraFile({{5,
                            "p2p",
                            type,
                            0,
                            {},
                            {ChakraAttributeOf(peer, rank),
                             ChakraAttributeOf("comm_tag", tag),
                             ChakraAttributeOf("comm_size", 64)}}});
    };
    const TraceFile sender = Read("a.0.et", pair(5, "comm_dst", 1, 3));
    const Workload workload = MakeOf({sender, Read("a.1.et", pair(6, "comm_src", 0, 3))});
    ASSERT_EQ(workload.graph.groups.size(), 1U);
    EXPECT_EQ(workload.graph.groups[0], (std::vector<Rank>{Rank(0), Rank(1)}));
    EXPECT_EQ(AllOpsOf(workload, 0)[0].kind, StepOpKind::Send);
    EXPECT_EQ(AllOpsOf(workload, 1)[0].kind, StepOpKind::Recv);
    EXPECT_NE(RefusalOf([&] {
                  MakeOf({sender, Read("a.1.et", pair(6, "comm_src", 0, 4))});
              }).find("no partner for"),
              std::string::npos);
}

// Chakra's converter writes sends and receives of PyTorch without their peers (schema in its
// metadata tells it); a generator must write them.
TEST(ImportTraces, SendsOfTheConverterKeepTheirTime)
{
    const ChakraSample send{
        5, "ncclDevKernel_SendRecv", 5, 30, {}, {ChakraAttributeOf("comm_size", 64)}};
    const std::string metadata =
        WireWriter()
            .Text(1, "0.0.4")
            .Text(2, WireWriter().Text(1, "schema").Text(29, "1.1.1-chakra.0.0.4").Bytes())
            .Framed();
    const TraceFile file = Read("a.0.et", metadata + send.Framed());
    EXPECT_EQ(file.ranks[0].events[0].kind, TraceEventKind::Compute);
    EXPECT_EQ(file.ranks[0].events[0].duration, Time::Microseconds(30));
    EXPECT_EQ(file.remarks.at(0),
              "1 send or receive kernels name no peer: they keep their recorded time");
    EXPECT_EQ(RefusalOf([&] { Read("a.0.et", ChakraFile({send})); }),
              "a.0.et: node 5: found a send without comm_dst, expected the rank of its peer");
}

TEST(ImportTraces, NodesThatWaitForEachOtherAreRefused)
{
    const TraceFile file =
        Read("a.0.et", ChakraFile({{1, "x", 4, 1, {2}, {}}, {2, "y", 4, 1, {1}, {}}}));
    EXPECT_EQ(RefusalOf([&] { MakeOf({file}); }),
              "import: found events that wait for each other: rank 0 in a.0.et waits at node 2 for "
              "node 1; expected an order in which all can run");
    // Rank 0 calls on two groups in one order, rank 1 in the opposite order: a deadlock.
    const auto calls = [](const char* first, const char* second) {
        const auto node = [](uint64_t id, const char* group, std::vector<uint64_t> needs) {
            return ChakraSample{id,
                                "all_reduce",
                                7,
                                0,
                                std::move(needs),
                                {ChakraAttributeOf("comm_size", 8),
                                 WireWriter().Text(1, "pg_name").Text(29, group).Bytes()}};
        };
        return ChakraFile({node(1, first, {}), node(2, second, {1})});
    };
    const std::string refusal = RefusalOf([&] {
        MakeOf({Read("a.0.et", calls("1", "2")), Read("a.1.et", calls("2", "1"))});
    });
    EXPECT_NE(refusal.find("rank 1 in a.1.et waits at node 2 for node 1"), std::string::npos)
        << refusal;
}

// Node 2 waits for node 1 on both ranks, so the all-reduce of 8 B is the first of each, whatever
// the order of nodes in the file or of their ids.
TEST(ImportTraces, TheOrderOfNodesInAFileHasNoEffect)
{
    const auto node = [](uint64_t id, uint64_t bytes, std::vector<uint64_t> needs) {
        return ChakraSample{
            id, "all_reduce", 7, 0, std::move(needs), {ChakraAttributeOf("comm_size", bytes)}};
    };
    const TraceFile sorted = Read("a.0.et", ChakraFile({node(1, 8, {}), node(2, 16, {1})}));
    const TraceFile reverse = Read("a.1.et", ChakraFile({node(2, 16, {1}), node(1, 8, {})}));
    const TraceFile renamed = Read("a.1.et", ChakraFile({node(3, 16, {7}), node(7, 8, {})}));
    for (const TraceFile& other : {reverse, renamed})
    {
        const Workload workload = MakeOf({sorted, other});
        for (uint32_t rank = 0; rank < 2; rank++)
        {
            const auto calls = AllOpsOf(workload, rank);
            ASSERT_EQ(calls.size(), 2U);
            EXPECT_EQ(calls[0].bytes, Bytes(8));
            EXPECT_EQ(calls[1].bytes, Bytes(16));
        }
    }
    // Sends of one tag, whose second waits for the first: 8 B, then 16 B.
    const std::string from = "num_ranks 2 rank 0 { a: send 8b to 1 b: send 16b to 1 b requires a }";
    const Workload workload = MakeOf(
        {Read("g.goal", from + "rank 1 { b: recv 16b from 0 a: recv 8b from 0 b requires a }")});
    EXPECT_EQ(AllOpsOf(workload, 1).at(0).bytes, Bytes(8));
}

// Chakra's files are PREFIX.RANK.et, and a prefix may have numbers of its own.
TEST(ImportTraces, TheLastNumberOfAFileNameIsItsRank)
{
    EXPECT_EQ(RankOfFileName("llama3.1.8b.0.et"), 0U);
    EXPECT_EQ(RankOfFileName("runs.5.d/v1.2.13.et.gz"), 13U);
    EXPECT_EQ(RankOfFileName("worker3_step_12.json"), 3U);
    EXPECT_EQ(RankOfFileName("ranking-rank12.2.json"), 12U);
    EXPECT_EQ(RankOfFileName("node_77.1697123456789.pt.trace.json"), std::nullopt);
}

TEST(ImportTraces, DependenciesOnMissingNodesAreDroppedOnRequest)
{
    const TraceFile file = Read("a.0.et", ChakraFile({{1, "x", 4, 1, {9}, {}}}));
    EXPECT_EQ(file.dangling, 1U);
    EXPECT_NE(RefusalOf([&] { MakeOf({file}); }).find("a.0.et: node 1 after node 9"),
              std::string::npos);
    TraceOptions options;
    options.dropsDangling = true;
    EXPECT_EQ(AllOpsOf(MakeOf({file}, options), 0).size(), 1U);
}

TEST(ImportTraces, OneRankStandsForManyOnRequest)
{
    TraceOptions options;
    options.ranks = 8;
    const Workload workload = MakeOf({Read("a.0.et", ChakraStep(4096))}, options);
    EXPECT_EQ(workload.graph.RankCount(), 8U);
    EXPECT_EQ(workload.graph.groups[0].size(), 8U);
    EXPECT_EQ(workload.graph.programs.size(), 1U);
    EXPECT_EQ(workload.remarks.at(0), "one rank represents 8");
}

TEST(ImportTraces, SimAiLayersAreDownwardsAndUpwards)
{
    const TraceFile file = Read("w.txt", SIMAI_FULL);
    EXPECT_EQ(file.dialect, "SimAI workload text (HYBRID_TRANSFORMER_FWD_IN_BCKWD, full header)");
    const Workload workload = MakeOf({file});
    EXPECT_EQ(workload.graph.RankCount(), 8U);
    const auto& kernels = OpsOf(workload, 0, StreamKind::Compute);
    ASSERT_EQ(kernels.size(), 12U); // 6 per micro-batch, ga = 2
    // Forward pass of norm and mlp; weight and input gradients of mlp, then of norm.
    const int64_t nanoseconds[] = {1000, 3000, 5000, 4000, 2000, 1};
    for (std::size_t i = 0; i < 6; i++)
    {
        EXPECT_EQ(kernels[i].duration, Time::Nanoseconds(static_cast<double>(nanoseconds[i]))) << i;
    }
    std::size_t tensor = 0;
    for (const StepOp& op : AllOpsOf(workload, 0))
    {
        tensor += op.kind == StepOpKind::Collective && op.category == TimeCategory::Tensor ? 1 : 0;
    }
    EXPECT_EQ(tensor, 4U);
    // Tensor-parallel groups are adjacent ranks; data-parallel ranks are two apart.
    const auto& groups = workload.graph.groups;
    EXPECT_NE(std::find(groups.begin(), groups.end(), std::vector<Rank>{Rank(0), Rank(1)}),
              groups.end());
    EXPECT_NE(std::find(groups.begin(),
                        groups.end(),
                        std::vector<Rank>{Rank(1), Rank(3), Rank(5), Rank(7)}),
              groups.end());
    EXPECT_EQ(Read("m.txt", SIMAI_MICRO).dialect, "SimAI workload text (MICRO)");
}

// ASTRA-sim 1.0 writes only a policy. The embeddings of DLRM are exchanged among all ranks, model
// parallelism uses all ranks; what divides the ranks must say how.
TEST(ImportTraces, APolicyWithoutDegreesUsesAllRanks)
{
    TraceOptions options;
    options.ranks = 8;
    const auto read = [&](const std::string& header) {
        return Read(
            "w.txt", header + "\n1\nl -1 1 ALLTOALL 64 1 NONE 0 1 ALLREDUCE 128 1\n", options);
    };
    const auto sizesOf = [&](const std::string& header) {
        std::vector<std::size_t> sizes;
        const Workload workload = MakeOf({read(header)}, options);
        for (const StepOp& op : AllOpsOf(workload, 0))
        {
            if (op.kind == StepOpKind::Collective)
            {
                const uint32_t group = workload.graph.rankGroups[0][op.group];
                sizes.push_back(workload.graph.groups[group].size());
            }
        }
        return sizes;
    };
    EXPECT_EQ(sizesOf("HYBRID_DLRM 1"), (std::vector<std::size_t>{8, 8}));
    EXPECT_EQ(sizesOf("MODEL"), (std::vector<std::size_t>{8}));
    EXPECT_EQ(sizesOf("DATA"), (std::vector<std::size_t>{8}));
    EXPECT_EQ(RefusalOf([&] { read("HYBRID_DATA_MODEL"); }),
              "w.txt: line 3: found ALLTOALL of a tensor group, expected its size, "
              "model_parallel_NPU_group, in the header of HYBRID_DATA_MODEL");
}

TEST(ImportTraces, SimAiGroupsOfNoRankAreRefused)
{
    std::string text = SIMAI_FULL;
    const std::string key = "model_parallel_NPU_group: ";
    const std::size_t at = text.find(key) + key.size();
    text.replace(at, text.find(' ', at) - at, "0");
    EXPECT_EQ(RefusalOf([&] { Read("w.txt", text); }),
              "w.txt:1: model_parallel_NPU_group: found '0', expected 1 or more");
    text = SIMAI_FULL;
    text.replace(text.find("all_gpus: 8"), 11, "all_gpus: 0");
    EXPECT_EQ(RefusalOf([&] { Read("w.txt", text); }),
              "w.txt:1: all_gpus: found '0', expected 1 or more");
}

/** Refusal of SimAI's sample with @p from replaced by @p to. */
std::string
SimAiRefusal(const std::string& from, const std::string& to)
{
    std::string text = SIMAI_FULL;
    text.replace(text.find(from), from.size(), to);
    return RefusalOf([&] { Read("w.txt", text); });
}

// Keys of SimAI's header and its names of collectives must match whole tokens: "ga:3" is one other
// token, and a prefix of a name is no name.
TEST(ImportTraces, SimAiWordsThatThereAreNotAreRefused)
{
    const std::string keys =
        "one of: model_parallel_NPU_group, ep, pp, vpp, ga, all_gpus, checkpoints, "
        "checkpoint_initiates, pp_comm, each with ': ' and its value";
    EXPECT_EQ(SimAiRefusal("ga: 2", "gaa: 3"),
              "w.txt:1: header: found 'gaa:', expected " + keys + " (did you mean 'ga'?)");
    EXPECT_EQ(SimAiRefusal("ga: 2", "ga:3"),
              "w.txt:1: header: found 'ga:3', expected " + keys + " (did you mean 'ga'?)");
    EXPECT_EQ(SimAiRefusal("ga: 2", "ga 3"), "w.txt:1: header: found 'ga', expected " + keys);
    EXPECT_EQ(SimAiRefusal("ga: 2", "ga: 2 7"), "w.txt:1: header: found '7', expected " + keys);
    EXPECT_EQ(SimAiRefusal("ep: 1", "epp: 1").find("w.txt:1: header: found 'epp:', expected one"),
              0U);
    EXPECT_EQ(SimAiRefusal("ga: 2", "ga: 2 ga: 3"),
              "w.txt:1: header: found 'ga:', expected each key once");
    EXPECT_EQ(SimAiRefusal("checkpoints: 0", "checkpoints: 2 1")
                  .find("w.txt:1: checkpoints: found 'checkpoint_initiates:', expected a whole"),
              0U);
    for (const char* word : {"ALLREDUCE_XX", "ALLTOALLV", "ALLREDUCEALLTOALL", "allreduce"})
    {
        EXPECT_EQ(SimAiRefusal("ALLREDUCE", word),
                  "w.txt:4: collective: found '" + std::string(word) +
                      "', expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or "
                      "BROADCAST, optionally with _EP or _DP_EP");
    }
}

TEST(ImportTraces, WhatOfASimAiHeaderIsNotPlayedIsSaid)
{
    std::string text = SIMAI_FULL;
    const std::string none = "checkpoints: 0 checkpoint_initiates: 0";
    text.replace(
        text.find(none), none.size(), "checkpoints: 2 0 1 checkpoint_initiates: 1 1 pp_comm 4096");
    const std::vector<std::string> remarks = Read("w.txt", text).remarks;
    for (const char* remark :
         {"vpp 2: stages are not divided: every rank plays all layers",
          "pp_comm 4096: transfers of this many bytes between stages are not played",
          "checkpoints 2: recomputed layers are not played again",
          "checkpoint_initiates 1: recomputations that begin there are not played",
          "weight updates (the last column of times) are not played"})
    {
        EXPECT_NE(std::find(remarks.begin(), remarks.end(), remark), remarks.end()) << remark;
    }
}

/** Refusal of AICB's sample with @p from replaced by @p to. */
std::string
AicbRefusal(const std::string& from, const std::string& to)
{
    std::string text = AICB_ROWS;
    text.replace(text.find(from), from.size(), to);
    return RefusalOf([&] { Read("rows.csv", text); });
}

// A group has one size, at most the number of ranks that the file names.
TEST(ImportTraces, AicbRowsThatContradictAreRefused)
{
    EXPECT_EQ(AicbRefusal("CommType.all_gather,CommGroup.tp_group,2",
                          "CommType.all_gather,CommGroup.dp_group,4"),
              "rows.csv:5: comm_group_size: found '4', expected 8, as dp_group has in line 3");
    EXPECT_EQ(AicbRefusal("rank15]", "rank7]"),
              "rows.csv:6: comm_group_size: found '16', expected at most the 8 ranks of the line "
              "above");
    EXPECT_EQ(AicbRefusal("tp_group,2", "tp_group,0"),
              "rows.csv:5: comm_group_size: found '0', expected 1 or more, or None");
    for (const std::string last : {"-1", "65536", "99999999999999999999"})
    {
        EXPECT_EQ(AicbRefusal("rank15]", "rank" + last + "]"),
                  "rows.csv:1: last rank: found '" + last +
                      "', expected a whole number of at most 65535");
    }
    EXPECT_EQ(AicbRefusal("CommType.broadcast,", "CommType.broadcastt,"),
              "rows.csv:3: comm_type: found 'broadcastt', expected one of: all_reduce, "
              "all_gather, all_gather_into_tensor, reduce_scatter, reduce_scatter_tensor, "
              "all_to_all, broadcast, reduce, barrier, isend, irecv, computation, epoch_end (did "
              "you mean 'broadcast'?)");
}

TEST(ImportTraces, AicbRowsAreAChain)
{
    const TraceFile file = Read("rows.csv", AICB_ROWS);
    EXPECT_EQ(file.nodes, 5U);
    EXPECT_EQ(file.dropped.at("epoch_end"), 1U);
    const Workload workload = MakeOf({file});
    EXPECT_EQ(workload.graph.RankCount(), 16U);
    const std::vector<StepOp> ops = AllOpsOf(workload, 0);
    ASSERT_EQ(ops.size(), 4U);
    EXPECT_EQ(ops[0].duration, Time::Microseconds(250));
    std::size_t dependencies = 0;
    for (const StepOp& op : ops)
    {
        dependencies += op.dependencyCount;
    }
    EXPECT_EQ(dependencies, 2U); // broadcast, computation, all-gather; barrier in stream order
}

TEST(ImportTraces, GoalIsTheSameThereAndBack)
{
    const GoalSchedule schedule = ReadGoal({"a.goal", GOAL_PAIR});
    const std::string binary = ToGoalBinary(schedule);
    EXPECT_TRUE(IsGoalBinary(binary));
    const GoalSchedule again = ReadGoal({"a.bin", binary});
    EXPECT_EQ(ToGoalText(again), GOAL_PAIR);
    EXPECT_EQ(ToGoalBinary(ReadGoal({"b.goal", ToGoalText(again)})), binary);
    const Workload workload = MakeOf({Read("a.bin", binary)});
    EXPECT_EQ(workload.graph.groups.size(), 2U);
    EXPECT_EQ(AllOpsOf(workload, 0).size(), 4U);
}

TEST(ImportTraces, GoalRefusalsNameTheLine)
{
    const auto refusal = [](const std::string& text) {
        return RefusalOf([&] { Read("a.goal", text); });
    };
    EXPECT_EQ(refusal("num_ranks 2\nrank 0 {\n send 8b to 2\n}"),
              "a.goal:3: found '2', expected a whole number of at most 1");
    EXPECT_NE(refusal("num_ranks 2\nrank 0 {\nl1: calc 5\nl1 requires l9\n}").find("a.goal:4"),
              std::string::npos);
    EXPECT_EQ(refusal("num_ranks 1\nrank 0 {\nl1: calc 5\nl1: calc 6\n}"),
              "a.goal:4: found the label 'l1' again, expected each once in a rank");
    EXPECT_EQ(refusal("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}"),
              "a.goal:4: found rank 0 again (first on line 2), expected it once");
    EXPECT_EQ(refusal("num_ranks 2\nrank 1 {\n}"),
              "a.goal:1: found num_ranks 2 and 1 blocks of ranks, expected one for each");
    EXPECT_NE(refusal("num_ranks 4000000000").find("at most 65536"), std::string::npos);
    EXPECT_NE(refusal("num_ranks 1\nrank 0 {\ncalc 5\n").find("expected '}'"), std::string::npos);
}

TEST(ImportTraces, ContentTellsTheDialect)
{
    EXPECT_NE(RefusalOf([] { Read("a.et", "no trace"); }).find("found no dialect"),
              std::string::npos);
    EXPECT_NE(RefusalOf([] { Read("a.json", "{}"); }).find("found JSON without"),
              std::string::npos);
    EXPECT_NE(RefusalOf([] { Read("a.json", " \n"); }).find("found no content"), std::string::npos);
}

// Editors on Windows begin UTF-8 with a byte order mark and end lines with CR LF.
TEST(ImportTraces, AFileMayBeginWithAByteOrderMark)
{
    const ScratchFolder folder;
    std::ofstream(folder / "w.txt")
        << "\xef\xbb\xbfMICRO\r\n1\r\nm -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 64 1\r\n";
    const auto files = ReadTraces({folder / "w.txt"}, {});
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].dialect, "SimAI workload text (MICRO)");
    EXPECT_EQ(files[0].ranks[0].events.back().in, Bytes(64));
}

// An output of nccl-tests is listed from its content, which may be of an archive.
TEST(ImportTraces, AnOutputOfNcclTestsMayBeInAnArchive)
{
    const ScratchFolder folder;
    std::ofstream(folder / "all_gather_2x8.csv") << "size_bytes,time_us\n8,10.5\n";
    std::ofstream(folder / "notes.txt") << "how it was run\n";
    const std::string make =
        "tar -C " + (folder / "") + " -cf " + (folder / "a.tar") + " all_gather_2x8.csv notes.txt";
    ASSERT_EQ(std::system(make.c_str()), 0);
    const TraceFile file = ReadTraces({folder / "a.tar"}, {}).at(0);
    EXPECT_EQ(file.listing.at(0),
              "all-gather, 2 nodes of 8 GPUs: 1 sizes, 8 B in 10.50 us to 8 B in 10.50 us");
}

// mpirun tags each line; nccl-tests -J writes JSON. Neither is a trace in JSON.
TEST(ImportTraces, AnOutputOfNcclTestsMayHaveTagsOrBeJson)
{
    const std::string tag = "[1,0]<stdout>:";
    const TraceFile text =
        Read("all_gather_2x8.txt",
             tag + "#  size  count  type  redop  root  time  algbw  busbw  #wrong\n" + tag +
                 "      64      4  float   none    -1  13.5   0.00   0.00       0\n");
    EXPECT_EQ(text.listing.at(0),
              "all-gather, 2 nodes of 8 GPUs: 1 sizes, 64 B in 13.50 us to 64 B in 13.50 us");
    const TraceFile json =
        Read("a.json",
             R"({"args": ["all_gather_perf"], "results": [{"size": 64, "out_of_place": {"time":
13.5}}]})");
    EXPECT_EQ(json.listing.at(0), "all-gather: 1 sizes, 64 B in 13.50 us to 64 B in 13.50 us");
    EXPECT_EQ(Read("log.txt", tag + " a:1:1 [0] NCCL INFO Using network IB\n").listing.at(0),
              "1 ranks use network IB");
}

// The file of groups replaces the process groups of any trace: here ranks 0 and 2 of 4.
TEST(ImportTraces, AFileOfGroupsIsForAnyDialect)
{
    const ScratchFolder folder;
    std::ofstream(folder / "a.json") << KernelTraceOf(4, CallOf("Float", 2, ""));
    TraceOptions options;
    options.ranks = 4;
    options.groups = {{"7", {0, 2}}};
    const std::vector<TraceFile> files = ReadTraces({folder / "a.json"}, options);
    EXPECT_TRUE(files[0].remarks.empty()); // the ranks are known
    const auto groups = MakeOf(files, options).graph.groups;
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0], (std::vector<Rank>{Rank(0), Rank(2)}));
    options.groups["8"] = {1, 3}; // of no event
    EXPECT_EQ(ReadTraces({folder / "a.json"}, options)[0].remarks,
              std::vector<std::string>{"1 process groups of --groups are of no trace"});
}

// l2 starts when l1 starts, so it does not depend on the end of any operation: l2 is the first
// send.
TEST(ImportTraces, OperationsOfGoalThatStartWithOthersAreCountedInTheOrderOfTheFile)
{
    EXPECT_NO_THROW(MakeOf({Read("a.goal",
                                 "num_ranks 2 rank 0 { l1: calc 10\nl2: send 100b to 1 tag 5\n"
                                 "l3: send 200b to 1 tag 5\nl2 irequires l1 }\n"
                                 "rank 1 { l1: recv 100b from 0 tag 5\n"
                                 "l2: recv 200b from 0 tag 5 }")}));
}

// A list of every second rank up to 62 has 32 ranks, not the 40 of its group.
TEST(ImportTraces, CompletesNoListToAnotherSizeThanItsGroups)
{
    RankTrace rank;
    AddProcessGroups(Json::parse(R"([{"pg_name": "7", "pg_size": 40, "ranks": "[0, 2, ..., 62]"},
                                     {"pg_name": "8", "pg_size": 32, "ranks": "[0, 2, ..., 62]"}])"),
                     "a.json",
                     rank);
    EXPECT_TRUE(rank.groups["7"].ranks.empty());
    EXPECT_EQ(rank.groups["8"].ranks.size(), 32U);
}

TEST(ImportTraces, TruncatedFilesAreRefused)
{
    const std::string whole = ChakraStep(4096); // metadata and two nodes
    unsigned ends = 0;
    for (std::size_t size = 1; size + 1 < whole.size(); size++)
    {
        const std::string refusal =
            RefusalOf([&] { MakeOf({Read("a.0.et", whole.substr(0, size))}); });
        const bool endsBetweenMessages =
            refusal.empty() || refusal.find("no rank to play") != std::string::npos;
        ends += endsBetweenMessages ? 1 : 0;
        EXPECT_TRUE(endsBetweenMessages || refusal.find("a.0.et") == 0) << size << refusal;
    }
    EXPECT_LE(ends, 2U); // after the metadata and after the first node
    const std::string binary = ToGoalBinary(ReadGoal({"a.goal", GOAL_PAIR}));
    for (std::size_t size = 8; size < binary.size(); size++)
    {
        EXPECT_NE(RefusalOf([&] { Read("a.bin", binary.substr(0, size)); }), "") << size;
    }
}

// A length of 2^60, a varint of eleven bytes and 1e9 rows are refused before memory is allocated.
TEST(ImportTraces, HugeNumbersAreRefused)
{
    const std::string metadata = WireWriter().Text(1, "0.0.4").Framed();
    EXPECT_NE(RefusalOf([&] {
                  Read("a.0.et", metadata + WireWriter().Varint(uint64_t{1} << 60).Bytes());
              }).find("1152921504606846976 should follow"),
              std::string::npos);
    EXPECT_NE(RefusalOf([&] {
                  Read("a.0.et", metadata + std::string(11, '\xff'));
              }).find("a varint of more than 10 bytes"),
              std::string::npos);
    EXPECT_NE(RefusalOf([] {
                  Read("w.txt", "MICRO\n1000000000\nmicro -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n");
              }).find("1 rows"),
              std::string::npos);
    const std::string ga = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ga: 1000000000\n1\n";
    EXPECT_NE(RefusalOf([&] { Read("w.txt", ga); }), "");
}

// What import writes, run reads: a workload's times end at 2^58 ps, its sizes at 2^50 B.
TEST(ImportTraces, WhatNoWorkloadHoldsIsRefused)
{
    EXPECT_EQ(
        RefusalOf([] { MakeOf({Read("g.goal", "num_ranks 1 rank 0 { calc 288230376151712 }")}); }),
        "g.goal: rank 0, l1: found a duration of 288230376151712000 ps, expected at "
        "most 288230376151711744");
    const TraceFile longest = Read("g.goal", "num_ranks 1 rank 0 { calc 288230376151711 }");
    EXPECT_EQ(AllOpsOf(MakeOf({longest}), 0).size(), 1U);
    const auto gather = [](const std::string& name) {
        return Read(
            name,
            ChakraFile(
                {{1, "all_gather", 7, 0, {}, {ChakraAttributeOf("comm_size", uint64_t{1} << 50)}}}),
            {GatherSize::Shard, false, 0, {}});
    };
    EXPECT_NE(RefusalOf([&] {
                  MakeOf({gather("a.0.et"), gather("a.1.et")});
              }).find("found parts of 1125899906842624 B of 2 ranks"),
              std::string::npos);
}

TEST(ImportTraces, NumbersBeyondAnyDoubleAreRefused)
{
    EXPECT_NE(RefusalOf([] {
                  Read("a.json", R"({"traceEvents": [{"ph": "X", "ts": 1001e308}]})");
              }).find("found invalid JSON"),
              std::string::npos);
}

TEST(ImportTraces, DeepJsonIsRefused)
{
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    for (const std::string& text : {R"({"schema": "1.0.1", "nodes": )" + deep + "}",
                                    R"({"traceEvents": [{"ph": "X", "args": )" + deep + "}]}"})
    {
        EXPECT_NE(RefusalOf([&] { Read("a.json", text); }).find("nested deeper"),
                  std::string::npos);
    }
}

TEST(ImportTraces, WorkloadsAreTheSameWrittenAndRead)
{
    const ScratchFolder folder;
    const Workload made = MakeOf({Read("rows.csv", AICB_ROWS)});
    std::ofstream(folder / "w.json") << ToText(made);
    const Workload read = ReadWorkload(folder / "w.json");
    EXPECT_EQ(ToText(read), ToText(made));
    EXPECT_EQ(ToText(made).compare(0, std::string(WORKLOAD_BEGINNING).size(), WORKLOAD_BEGINNING),
              0);
}

TEST(ImportTraces, WrongWorkloadsAreRefused)
{
    const ScratchFolder folder;
    const std::string text = ToText(MakeOf({Read("rows.csv", AICB_ROWS)}));
    const auto refusal = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        const std::size_t at = changed.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        changed.replace(at, from.size(), to);
        std::ofstream(folder / "w.json") << changed;
        return RefusalOf([&] { ReadWorkload(folder / "w.json"); });
    };
    EXPECT_NE(refusal("weir-workload", "else").find("expected weir-workload"), std::string::npos);
    EXPECT_NE(refusal("\"op\":\"broadcast\"", "\"op\":\"cast\"").find("expected one of"),
              std::string::npos);
    EXPECT_NE(refusal("\"time_ps\":250000000", "\"time_ps\":-1").find(", time_ps: found -1"),
              std::string::npos);
    EXPECT_NE(refusal("\"after\":[", "\"aftr\":[").find("'aftr', expected one of: do, label"),
              std::string::npos);
    EXPECT_NE(refusal("\"slots\":", "\"slot\":").find("did you mean 'slots'?"), std::string::npos);
    EXPECT_NE(refusal("\"after\":[", "\"after\":[99,"), "");
    EXPECT_NE(refusal("\"program\":0", "\"program\":7"), "");
    EXPECT_NE(refusal("[0,2,4", "[0,2,99"), "");
    EXPECT_NE(refusal("\"group\":0", "\"group\":60000"), "");
}

} // namespace
} // namespace weir
