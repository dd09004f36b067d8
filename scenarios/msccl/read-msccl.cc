// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/msccl/read-msccl.h"

#include "collectives/algorithms/imported/imported-check.h"
#include "scenarios/msccl/msccl-element.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/text-file.h"

namespace weir
{

namespace
{

constexpr int64_t MAX_RANKS = 1 << 16;
constexpr int64_t MAX_CHUNKS = 1 << 20;
constexpr int64_t MAX_CHANNELS = 64;
constexpr int64_t LARGEST_CALL = int64_t{1} << 58;

CollectiveOp
ReadOp(const MscclElement& element)
{
    // alltoallv, send, recv and custom do not say who must end with what.
    return element.Choice<CollectiveOp>("coll",
                                        {{"allreduce", CollectiveOp::AllReduce},
                                         {"allgather", CollectiveOp::AllGather},
                                         {"reducescatter", CollectiveOp::ReduceScatter},
                                         {"alltoall", CollectiveOp::AllToAll},
                                         {"broadcast", CollectiveOp::Broadcast},
                                         {"reduce", CollectiveOp::Reduce},
                                         {"gather", CollectiveOp::Gather},
                                         {"scatter", CollectiveOp::Scatter}});
}

ImportedPlace
ReadPlace(const MscclElement& element, const char* buffer, const char* offset)
{
    ImportedPlace place;
    place.buffer = element.Choice<ImportedBuffer>(buffer,
                                                  {{"i", ImportedBuffer::Input},
                                                   {"o", ImportedBuffer::Output},
                                                   {"s", ImportedBuffer::Scratch}});
    place.chunk = static_cast<uint32_t>(element.Integer(offset, 0, MAX_CHUNKS));
    return place;
}

ImportedStep
ReadStep(const MscclElement& element)
{
    ImportedStep step;
    step.line = element.Line();
    step.kind = element.Choice<ImportedStepKind>("type",
                                                 {{"s", ImportedStepKind::Send},
                                                  {"r", ImportedStepKind::Recv},
                                                  {"rcs", ImportedStepKind::RecvCopySend},
                                                  {"rrs", ImportedStepKind::RecvReduceSend},
                                                  {"rrc", ImportedStepKind::RecvReduceCopy},
                                                  {"rrcs", ImportedStepKind::RecvReduceCopySend},
                                                  {"cpy", ImportedStepKind::Copy},
                                                  {"re", ImportedStepKind::Reduce},
                                                  {"nop", ImportedStepKind::Nothing}});
    if (Reads(step.kind))
    {
        step.source = ReadPlace(element, "srcbuf", "srcoff");
    }
    if (Writes(step.kind))
    {
        step.destination = ReadPlace(element, "dstbuf", "dstoff");
    }
    if (step.kind != ImportedStepKind::Nothing)
    {
        step.count = static_cast<uint32_t>(element.Integer("cnt", 1, MAX_CHUNKS));
    }
    step.block = static_cast<int32_t>(element.IntegerOr("depid", -1, MAX_CHUNKS, -1));
    if (step.block >= 0)
    {
        step.after = static_cast<uint32_t>(element.Integer("deps", 0, MAX_CHUNKS));
    }
    return step;
}

ImportedBlock
ReadBlock(const MscclElement& element)
{
    ImportedBlock block;
    block.line = element.Line();
    block.sendTo = static_cast<int32_t>(element.Integer("send", -1, MAX_RANKS));
    block.recvFrom = static_cast<int32_t>(element.Integer("recv", -1, MAX_RANKS));
    block.channel = static_cast<uint32_t>(element.Integer("chan", 0, MAX_CHANNELS - 1));
    for (const auto& child : element.Children("step"))
    {
        const auto next = static_cast<int64_t>(block.steps.size());
        if (child.Integer("s", 0, MAX_CHUNKS) != next)
        {
            child.Fail("s", child.Text("s"), std::to_string(next));
        }
        block.steps.push_back(ReadStep(child));
    }
    return block;
}

ImportedRank
ReadRank(const MscclElement& element)
{
    ImportedRank rank;
    rank.line = element.Line();
    const char* names[]{"i_chunks", "o_chunks", "s_chunks"};
    for (std::size_t buffer = 0; buffer < 3; ++buffer)
    {
        rank.chunks[buffer] = static_cast<uint32_t>(element.Integer(names[buffer], 0, MAX_CHUNKS));
    }
    for (const auto& child : element.Children("tb"))
    {
        const auto next = static_cast<int64_t>(rank.blocks.size());
        if (child.Integer("id", 0, MAX_CHUNKS) != next)
        {
            child.Fail("id", child.Text("id"), std::to_string(next));
        }
        rank.blocks.push_back(ReadBlock(child));
    }
    return rank;
}

void
ReadRanks(const MscclElement& element, ImportedProgram& program)
{
    const int64_t count = element.Integer("ngpus", 1, MAX_RANKS);
    program.ranks.resize(static_cast<std::size_t>(count));
    std::vector<bool> seen(program.ranks.size(), false);
    for (const auto& child : element.Children("gpu"))
    {
        const auto id = static_cast<std::size_t>(child.Integer("id", 0, count - 1));
        if (seen[id])
        {
            child.Fail(
                "id", child.Text("id"), "each of 0 to " + std::to_string(count - 1) + " once");
        }
        seen[id] = true;
        program.ranks[id] = ReadRank(child);
    }
    for (std::size_t id = 0; id < seen.size(); ++id)
    {
        if (!seen[id])
        {
            element.Fail("ngpus",
                         std::to_string(count),
                         "no more than there are: gpu " + std::to_string(id) + " is missing");
        }
    }
}

ImportedProgram
ReadProgram(const MscclElement& element, const std::string& file)
{
    ImportedProgram program;
    program.file = file;
    program.op = ReadOp(element);
    program.protocol = element.Choice<Protocol>(
        "proto", {{"Simple", Protocol::Simple}, {"LL", Protocol::Ll}, {"LL128", Protocol::Ll128}});
    program.channels = static_cast<uint32_t>(element.Integer("nchannels", 1, MAX_CHANNELS));
    program.chunks = static_cast<uint32_t>(element.Integer("nchunksperloop", 1, MAX_CHUNKS));
    program.inPlace = element.IntegerOr("inplace", 0, 1, 0) == 1;
    program.outOfPlace = element.IntegerOr("outofplace", 0, 1, program.inPlace ? 0 : 1) == 1;
    program.smallest = Bytes(element.IntegerOr("minBytes", 0, LARGEST_CALL, 0));
    const int64_t largest = element.IntegerOr("maxBytes", 0, INT64_MAX, 0);
    program.largest = Bytes(largest == 0 ? LARGEST_CALL : std::min(largest, LARGEST_CALL));
    ReadRanks(element, program);
    program.root = static_cast<uint32_t>(
        element.IntegerOr("root", 0, static_cast<int64_t>(program.ranks.size()) - 1, 0));
    return program;
}

} // namespace

ImportedProgram
ParseMscclText(const std::string& text, const std::string& file)
{
    const MscclSource source(text, file);
    pugi::xml_document document;
    const auto result = document.load_buffer(text.data(), text.size());
    if (!result)
    {
        source.Fail(source.LineAt(result.offset),
                    std::string("found wrong XML (") + result.description() + "), expected XML");
    }
    const pugi::xml_node root = document.document_element();
    const MscclElement algo(root, source);
    if (std::string(root.name()) != "algo")
    {
        source.Fail(algo.Line(), "found <" + std::string(root.name()) + ">, expected <algo>");
    }
    ImportedProgram program = ReadProgram(algo, file);
    if (const auto fault = CheckImportedProgram(program); !fault.empty())
    {
        throw InputError(fault);
    }
    return program;
}

ImportedProgram
ReadMscclFile(const std::string& file)
{
    return ParseMscclText(ReadTextFile(file, "MSCCL's XML"), file);
}

} // namespace weir
