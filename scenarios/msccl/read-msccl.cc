// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/msccl/read-msccl.h"

#include "collectives/algorithms/imported/imported-program.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/named-choices.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/text-file.h"
#include "scenarios/yaml/xml-element.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weir
{

namespace
{

/** The children of @p element, which must all be named @p name. */
std::vector<XmlElement>
ChildrenOf(const XmlElement& element, const std::string& name)
{
    std::vector<XmlElement> children = element.Children();
    for (const XmlElement& child : children)
    {
        if (child.Name() != name)
        {
            child.Fail("", "found it in '" + element.Name() + "', expected '" + name + "'");
        }
    }
    return children;
}

/** Throws unless the attribute is @p number; children are numbered from 0. */
void
ExpectNumber(const XmlElement& element, const char* attribute, std::size_t number)
{
    const std::string text = element.Text(attribute);
    if (text != std::to_string(number))
    {
        element.Fail(attribute, "found '" + text + "', expected " + std::to_string(number));
    }
}

template <typename Value>
Value
Choice(const XmlElement& element, const char* attribute, const NamedChoices<Value>& choices)
{
    const std::string text = element.Text(attribute);
    if (const std::optional<Value> value = FindChoice(choices, text))
    {
        return *value;
    }
    element.Fail(attribute,
                 "found '" + text + "', expected one of: " + JoinNames(ChoiceNames(choices)));
}

constexpr int64_t MAX_RANKS = 1 << 16;
constexpr int64_t MAX_CHUNKS = 1 << 20;
constexpr int64_t MAX_CHANNELS = 64;

CollectiveOp
ReadOp(const XmlElement& element)
{
    // alltoallv, send, recv and custom do not define which rank must end with which data.
    return Choice<CollectiveOp>(element,
                                "coll",
                                {{"allreduce", CollectiveOp::AllReduce},
                                 {"allgather", CollectiveOp::AllGather},
                                 {"reducescatter", CollectiveOp::ReduceScatter},
                                 {"alltoall", CollectiveOp::AllToAll},
                                 {"broadcast", CollectiveOp::Broadcast},
                                 {"reduce", CollectiveOp::Reduce},
                                 {"gather", CollectiveOp::Gather},
                                 {"scatter", CollectiveOp::Scatter}});
}

ImportedChunk
ReadPosition(const XmlElement& element, const char* buffer, const char* offset)
{
    ImportedChunk position;
    position.buffer = Choice<ImportedBuffer>(element,
                                             buffer,
                                             {{"i", ImportedBuffer::Input},
                                              {"o", ImportedBuffer::Output},
                                              {"s", ImportedBuffer::Scratch}});
    position.chunk = static_cast<uint32_t>(element.Integer(offset, 0, MAX_CHUNKS));
    return position;
}

ImportedStep
ReadStep(const XmlElement& element)
{
    ImportedStep step;
    step.line = element.Line();
    step.kind = Choice<ImportedStepKind>(element,
                                         "type",
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
        step.source = ReadPosition(element, "srcbuf", "srcoff");
    }
    if (Writes(step.kind))
    {
        step.destination = ReadPosition(element, "dstbuf", "dstoff");
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
ReadBlock(const XmlElement& element)
{
    ImportedBlock block;
    block.line = element.Line();
    block.sendTo = static_cast<int32_t>(element.Integer("send", -1, MAX_RANKS));
    block.recvFrom = static_cast<int32_t>(element.Integer("recv", -1, MAX_RANKS));
    block.channel = static_cast<uint32_t>(element.Integer("chan", 0, MAX_CHANNELS - 1));
    for (const auto& child : ChildrenOf(element, "step"))
    {
        ExpectNumber(child, "s", block.steps.size());
        block.steps.push_back(ReadStep(child));
    }
    return block;
}

ImportedRank
ReadRank(const XmlElement& element)
{
    ImportedRank rank;
    rank.line = element.Line();
    const char* names[]{"i_chunks", "o_chunks", "s_chunks"};
    for (std::size_t buffer = 0; buffer < 3; ++buffer)
    {
        rank.chunks[buffer] = static_cast<uint32_t>(element.Integer(names[buffer], 0, MAX_CHUNKS));
    }
    for (const auto& child : ChildrenOf(element, "tb"))
    {
        ExpectNumber(child, "id", rank.blocks.size());
        rank.blocks.push_back(ReadBlock(child));
    }
    return rank;
}

void
ReadRanks(const XmlElement& element, ImportedProgram& program)
{
    const int64_t count = element.Integer("ngpus", 1, MAX_RANKS);
    program.ranks.resize(static_cast<std::size_t>(count));
    std::vector<bool> seen(program.ranks.size(), false);
    for (const auto& child : ChildrenOf(element, "gpu"))
    {
        const auto id = static_cast<std::size_t>(child.Integer("id", 0, count - 1));
        if (seen[id])
        {
            child.Fail("id",
                       "found '" + child.Text("id") + "' again, expected each of 0 to " +
                           std::to_string(count - 1) + " once");
        }
        seen[id] = true;
        program.ranks[id] = ReadRank(child);
    }
    for (std::size_t id = 0; id < seen.size(); ++id)
    {
        if (!seen[id])
        {
            element.Fail("ngpus",
                         "found " + std::to_string(count) + ", expected also gpu " +
                             std::to_string(id));
        }
    }
}

ImportedProgram
ReadProgram(const XmlElement& element, const std::string& file)
{
    ImportedProgram program;
    program.file = file;
    program.op = ReadOp(element);
    program.protocol = Choice<Protocol>(
        element,
        "proto",
        {{"Simple", Protocol::Simple}, {"LL", Protocol::Ll}, {"LL128", Protocol::Ll128}});
    program.channels = static_cast<uint32_t>(element.Integer("nchannels", 1, MAX_CHANNELS));
    program.chunks = static_cast<uint32_t>(element.Integer("nchunksperloop", 1, MAX_CHUNKS));
    program.inPlace = element.IntegerOr("inplace", 0, 1, 0) == 1;
    program.outOfPlace = element.IntegerOr("outofplace", 0, 1, program.inPlace ? 0 : 1) == 1;
    program.smallest = Bytes(element.IntegerOr("minBytes", 0, MAX_CALL_BYTES.Count(), 0));
    const int64_t largest = element.IntegerOr("maxBytes", 0, INT64_MAX, 0);
    program.largest = largest == 0 ? MAX_CALL_BYTES : std::min(Bytes(largest), MAX_CALL_BYTES);
    if (program.largest < program.smallest)
    {
        element.Fail("maxBytes",
                     "found '" + element.Text("maxBytes") + "', expected at least minBytes, " +
                         element.Text("minBytes") + ", or 0 for any");
    }
    ReadRanks(element, program);
    program.root = static_cast<uint32_t>(
        element.IntegerOr("root", 0, static_cast<int64_t>(program.ranks.size()) - 1, 0));
    return program;
}

} // namespace

ImportedProgram
ParseMscclText(const std::string& text, const std::string& file)
{
    const ImportedProgram program = ReadProgram(XmlElement::Parse(text, file, "algo"), file);
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
