// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/imported/imported-program.h"

#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace weir
{
namespace
{

using Kind = ImportedStepKind;
using Buffer = ImportedBuffer;

ImportedStep
Step(Kind kind, ImportedChunk source, ImportedChunk destination)
{
    ImportedStep step;
    step.kind = kind;
    step.source = source;
    step.destination = destination;
    return step;
}

/**
 * In-place ring all-reduce of @p ranks ranks on @p channels channels: channel c reduces and gathers
 * the chunks c x ranks to c x ranks + ranks - 1, like NCCL's ring.
 */
ImportedProgram
RingAllReduce(uint32_t ranks, uint32_t channels, Protocol protocol)
{
    ImportedProgram program;
    program.file = "ring.xml";
    program.op = CollectiveOp::AllReduce;
    program.protocol = protocol;
    program.channels = channels;
    program.chunks = ranks * channels;
    program.inPlace = true;
    program.outOfPlace = false;
    program.ranks.resize(ranks);
    for (uint32_t r = 0; r < ranks; ++r)
    {
        program.ranks[r].chunks[0] = program.chunks;
        for (uint32_t c = 0; c < channels; ++c)
        {
            ImportedBlock block;
            block.sendTo = static_cast<int32_t>((r + 1) % ranks);
            block.recvFrom = static_cast<int32_t>((r + ranks - 1) % ranks);
            block.channel = c;
            for (uint32_t j = 1; j <= 2 * ranks - 1; ++j)
            {
                const ImportedChunk chunk{Buffer::Input, c * ranks + (r + 2 * ranks - j) % ranks};
                const Kind kind = j == 1              ? Kind::Send
                                  : j < ranks         ? Kind::RecvReduceSend
                                  : j == ranks        ? Kind::RecvReduceCopySend
                                  : j < 2 * ranks - 1 ? Kind::RecvCopySend
                                                      : Kind::Recv;
                block.steps.push_back(Step(kind, chunk, chunk));
            }
            program.ranks[r].blocks.push_back(std::move(block));
        }
    }
    return program;
}

/** The same call with the imported program. */
CollectiveCall
AsImported(CollectiveCall call)
{
    call.overrides.algorithm = Algorithm::Imported;
    call.overrides.protocol = std::nullopt;
    call.overrides.channels = std::nullopt;
    return call;
}

// The same ring, imported step by step, takes the same time: one slice, several passes, a partial
// last pass. (The ranks of an NVSwitch node are equivalent, so their order does not matter.)
TEST(Imported, ARingTakesTheTimeOfTheBuiltInRing)
{
    for (const auto protocol : ALL_PROTOCOLS)
    {
        CollectiveBench bench(H100Boxes(1));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
        bench.GetPlanner().AddProgram(RingAllReduce(8, 4, protocol));
        for (const int64_t chunk : {int64_t{16}, int64_t{4096}, int64_t{1} << 20, int64_t{5} << 20})
        {
            auto call = WithChannels(
                WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes(32 * chunk)), protocol),
                4);
            call.overrides.algorithm = Algorithm::Ring;
            const Time builtIn = bench.Run(Fidelity::Flow, call);
            const Time imported = bench.Run(Fidelity::Flow, AsImported(call));
            EXPECT_NEAR(imported / builtIn, 1, 1e-9) << ToString(protocol) << " " << chunk;
        }
    }
}

// One GPU per node: the paths use the same ports.
TEST(Imported, ARingOverNodesTakesTheTimeOfTheBuiltInRing)
{
    CollectiveBench bench(H100Boxes(3));
    const auto id = bench.GetPlanner().AddCommunicator({GpuId(0), GpuId(8), GpuId(16)});
    bench.GetPlanner().AddProgram(RingAllReduce(3, 1, Protocol::Simple));
    auto call = WithChannels(
        WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes::MiB(48)), Protocol::Simple), 1);
    call.overrides.algorithm = Algorithm::Ring;
    EXPECT_NEAR(
        bench.Run(Fidelity::Flow, AsImported(call)) / bench.Run(Fidelity::Flow, call), 1, 1e-9);
}

// A step that waits for a step of another block starts when that step has ended: two sends of 16
// KiB by two blocks, the second after the first has arrived, take twice as long as one.
TEST(Imported, DependenciesPutStepsInOrder)
{
    const auto program = [](bool inOrder) {
        ImportedProgram p;
        p.file = "two.xml";
        p.op = CollectiveOp::AllGather;
        p.protocol = Protocol::Ll; // copies take no time
        p.channels = 2;
        p.chunks = 4;
        p.ranks.resize(2);
        for (uint32_t r = 0; r < 2; ++r)
        {
            p.ranks[r].chunks[0] = 2;
            p.ranks[r].chunks[1] = 4;
            for (uint32_t c = 0; c < 2; ++c)
            {
                ImportedBlock block;
                block.sendTo = static_cast<int32_t>(1 - r);
                block.recvFrom = block.sendTo;
                block.channel = c;
                const ImportedChunk mine{Buffer::Input, c};
                const ImportedChunk theirs{Buffer::Output, 2 * (1 - r) + c};
                block.steps.push_back(Step(Kind::Copy, mine, {Buffer::Output, 2 * r + c}));
                block.steps.push_back(Step(Kind::Send, mine, {}));
                block.steps.push_back(Step(Kind::Recv, {}, theirs));
                if (inOrder && c == 1)
                {
                    block.steps[0].block = 0;
                    block.steps[0].after = 2;
                }
                p.ranks[r].blocks.push_back(block);
            }
        }
        return p;
    };
    const auto time = [&](bool inOrder) {
        CollectiveBench bench(H100Boxes(1));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(2));
        bench.GetPlanner().AddProgram(program(inOrder));
        const auto call = AsImported(MakeCall(id, CollectiveOp::AllGather, Bytes::KiB(64)));
        return bench.Run(Fidelity::Flow, call) - bench.GetPlanner().GetSchedule(call).startLatency;
    };
    EXPECT_NEAR(time(true) / time(false), 2, 1e-9);
}

// The shortcuts derived from the description agree with flow: few passes are computed slice by
// slice, many by their period. Four channels of one ring share a GPU's links; over nodes hops
// differ.
TEST(Imported, ShortcutsTakeTheTimeOfFlow)
{
    struct Group
    {
        uint32_t nodes;
        std::vector<GpuId> gpus;
        uint32_t channels;
    };

    for (const auto& [nodes, gpus, channels] :
         {Group{1, FirstGpus(8), 4}, Group{3, {GpuId(0), GpuId(1), GpuId(8), GpuId(16)}, 2}})
    {
        for (const auto protocol : {Protocol::Ll, Protocol::Simple})
        {
            CollectiveBench bench(H100Boxes(nodes));
            const auto id = bench.GetPlanner().AddCommunicator(gpus);
            const auto ranks = static_cast<uint32_t>(gpus.size());
            bench.GetPlanner().AddProgram(RingAllReduce(ranks, channels, protocol));
            for (const int64_t bytes : {int64_t{1} << 10, int64_t{1} << 20, int64_t{300} << 20})
            {
                const auto call = AsImported(MakeCall(id, CollectiveOp::AllReduce, Bytes(bytes)));
                const Time flow = bench.Run(Fidelity::Flow, call);
                for (const Fidelity shortcut : {Fidelity::Stream, Fidelity::Analytical})
                {
                    EXPECT_NEAR(bench.Run(shortcut, call) / flow, 1, 1e-3)
                        << ToString(shortcut) << " " << nodes << " " << ToString(protocol) << " "
                        << bytes;
                }
            }
        }
    }
}

class BrokenImport : public testing::Test
{
  protected:
    ImportedBlock& Block(uint32_t rank, uint32_t block = 0)
    {
        return m_program.ranks[rank].blocks[block];
    }

    void ExpectFault(const std::string& text)
    {
        const std::string fault = CheckImportedProgram(m_program);
        EXPECT_NE(fault.find(text), std::string::npos) << "found: " << fault;
        CollectiveBench bench(H100Boxes(1));
        EXPECT_THROW(bench.GetPlanner().AddProgram(m_program), std::invalid_argument);
    }

    ImportedProgram m_program{RingAllReduce(4, 1, Protocol::Simple)};
};

TEST_F(BrokenImport, TheIntactOneIsFine)
{
    EXPECT_EQ(CheckImportedProgram(m_program), "");
}

TEST_F(BrokenImport, AReceiveBeforeEverySendIsACycle)
{
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        std::swap(Block(rank).steps.front(), Block(rank).steps.back());
    }
    ExpectFault("rank 0, block 0, step 0 waits forever for rank 3, block 0, step 0");
}

TEST_F(BrokenImport, AStepThatWaitsForALaterOneOfItsOwnIsACycle)
{
    Block(2).steps[1].block = 0;
    Block(2).steps[1].after = 3;
    ExpectFault("rank 2, block 0, step 1 waits forever");
}

TEST_F(BrokenImport, AHopThatForgetsToAddIsFound)
{
    Block(1).steps[1].kind = Kind::RecvCopySend;
    ExpectFault("ring.xml: rank ");
}

TEST_F(BrokenImport, AHopThatAddsTwiceIsFound)
{
    Block(1).steps[4].kind = Kind::RecvReduceCopySend;
    ExpectFault("reduces the data of a rank twice");
}

TEST_F(BrokenImport, AChunkPastTheBufferIsFound)
{
    Block(3).steps[0].source.chunk = 4;
    ExpectFault("rank 3, block 0, step 0: chunk 4 of the input buffer, which has 4");
}

TEST_F(BrokenImport, APeerThatDoesNotExistIsFound)
{
    Block(1).sendTo = 9;
    ExpectFault("its peer is rank 9");
}

TEST_F(BrokenImport, APeerThatDoesNotListenIsFound)
{
    Block(1).sendTo = 3;
    ExpectFault(
        "rank 1 sends to rank 3 on channel 0: found 6 chunks, expected the number received, 0");
}

TEST_F(BrokenImport, AChannelPastTheLastIsFound)
{
    Block(1).channel = 1;
    ExpectFault("channel 1, expected an index below 1");
}

TEST_F(BrokenImport, ADependencyOnNothingIsFound)
{
    Block(0).steps[2].block = 1;
    ExpectFault("waits for step 0 of block 1, which does not exist");
}

// All-gather over a ring that stops one hop early: rank 0 is the first that lacks a chunk.
TEST(ImportedCheck, AnIncompleteCollectiveNamesWhatIsMissing)
{
    ImportedProgram program;
    program.file = "short.xml";
    program.op = CollectiveOp::AllGather;
    program.chunks = 8;
    program.ranks.resize(4);
    for (uint32_t r = 0; r < 4; ++r)
    {
        program.ranks[r].chunks[0] = 2;
        program.ranks[r].chunks[1] = 8;
        ImportedBlock block;
        block.sendTo = static_cast<int32_t>((r + 1) % 4);
        block.recvFrom = static_cast<int32_t>((r + 3) % 4);
        auto whole = [](Kind kind, ImportedChunk from, ImportedChunk to) {
            ImportedStep step = Step(kind, from, to);
            step.count = 2;
            return step;
        };
        const auto at = [&](uint32_t rank) {
            return ImportedChunk{Buffer::Output, 2 * (rank % 4)};
        };
        block.steps.push_back(whole(Kind::Copy, {Buffer::Input, 0}, at(r)));
        block.steps.push_back(whole(Kind::Send, at(r), {}));
        block.steps.push_back(whole(Kind::RecvCopySend, {}, at(r + 3)));
        block.steps.push_back(whole(Kind::Recv, {}, at(r + 2)));
        program.ranks[r].blocks.push_back(block);
    }
    EXPECT_EQ(CheckImportedProgram(program),
              "short.xml: rank 0 ends: found nothing in chunk 2 of its output, expected chunk 0 of "
              "rank 1");
}

// Rank 0 adds chunks from two other ranks to one chunk, in two blocks. Both blocks read, add and
// write; unless the second waits for the first, one sum can be lost.
TEST(ImportedCheck, TwoSumsIntoOneChunkNeedAnOrder)
{
    const auto program = [](bool isOrdered) {
        ImportedProgram p;
        p.file = "reduce.xml";
        p.op = CollectiveOp::Reduce;
        p.chunks = 1;
        p.inPlace = true;
        p.outOfPlace = false;
        p.ranks.resize(3);
        const ImportedChunk chunk{Buffer::Input, 0};
        for (int32_t peer = 1; peer <= 2; peer++)
        {
            ImportedBlock receiver;
            receiver.recvFrom = peer;
            receiver.steps = {Step(Kind::RecvReduceCopy, chunk, chunk)};
            ImportedBlock sender;
            sender.sendTo = 0;
            sender.steps = {Step(Kind::Send, chunk, chunk)};
            p.ranks[0].blocks.push_back(receiver);
            p.ranks[peer].blocks.push_back(sender);
        }
        for (ImportedRank& rank : p.ranks)
        {
            rank.chunks[0] = 1;
        }
        if (isOrdered)
        {
            p.ranks[0].blocks[1].steps[0].block = 0;
            p.ranks[0].blocks[1].steps[0].after = 0;
        }
        return p;
    };
    EXPECT_EQ(CheckImportedProgram(program(true)), "");
    EXPECT_NE(CheckImportedProgram(program(false))
                  .find("uses, expected a dependency or message that orders them"),
              std::string::npos)
        << CheckImportedProgram(program(false));
}

TEST(Imported, CallsWithoutAProgramAreRefused)
{
    CollectiveBench bench(H100Boxes(1));
    auto& planner = bench.GetPlanner();
    auto program = RingAllReduce(4, 1, Protocol::Simple);
    program.smallest = Bytes(1024);
    planner.AddProgram(program);
    const auto four = planner.AddCommunicator(FirstGpus(4));
    const auto call = AsImported(MakeCall(four, CollectiveOp::AllReduce, Bytes::MiB(1)));
    EXPECT_NO_THROW(planner.GetSchedule(call));
    auto wrong = call;
    wrong.communicator = planner.AddCommunicator(FirstGpus(5));
    EXPECT_THROW(planner.GetSchedule(wrong), std::invalid_argument);
    wrong = call;
    wrong.op = CollectiveOp::AllGather;
    EXPECT_THROW(planner.GetSchedule(wrong), std::invalid_argument);
    wrong = call;
    wrong.bytes = Bytes(1023);
    EXPECT_THROW(planner.GetSchedule(wrong), std::invalid_argument);
    EXPECT_THROW(planner.GetSchedule(WithChannels(call, 2)), std::invalid_argument);
}

// An imported schedule is used only where a call requests it.
TEST(Imported, NcclsChoiceIsNotChanged)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(4));
    bench.GetPlanner().AddProgram(RingAllReduce(4, 1, Protocol::Simple));
    const auto call = MakeCall(id, CollectiveOp::AllReduce, Bytes::MiB(1));
    EXPECT_NE(bench.GetPlanner().Plan(call).algorithm, Algorithm::Imported);
}

// Every rank sends 16 chunks before it receives any, but Simple's slots hold two.
TEST(Imported, AScheduleThatNeedsMoreSlotsThanThereAreIsRefused)
{
    ImportedProgram program;
    program.file = "eager.xml";
    program.op = CollectiveOp::AllToAll;
    program.protocol = Protocol::Simple;
    program.chunks = 32;
    program.ranks.resize(2);
    for (uint32_t r = 0; r < 2; ++r)
    {
        program.ranks[r].chunks[0] = 32;
        program.ranks[r].chunks[1] = 32;
        ImportedBlock block;
        block.sendTo = static_cast<int32_t>(1 - r);
        block.recvFrom = block.sendTo;
        for (uint32_t i = 0; i < 16; ++i)
        {
            block.steps.push_back(
                Step(Kind::Copy, {Buffer::Input, 16 * r + i}, {Buffer::Output, 16 * r + i}));
            block.steps.push_back(Step(Kind::Send, {Buffer::Input, 16 * (1 - r) + i}, {}));
        }
        for (uint32_t i = 0; i < 16; ++i)
        {
            block.steps.push_back(Step(Kind::Recv, {}, {Buffer::Output, 16 * (1 - r) + i}));
        }
        program.ranks[r].blocks.push_back(block);
    }
    ASSERT_EQ(CheckImportedProgram(program), ""); // valid with unlimited slots
    CollectiveBench bench(H100Boxes(1));
    bench.GetPlanner().AddProgram(program);
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(2));
    const auto call = AsImported(MakeCall(id, CollectiveOp::AllToAll, Bytes::MiB(64)));
    try
    {
        bench.GetPlanner().GetSchedule(call);
        FAIL() << "not refused";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_NE(std::string(error.what())
                      .find("eager.xml: deadlock with the buffer slots of protocol simple"),
                  std::string::npos)
            << error.what();
    }
}

} // namespace
} // namespace weir
