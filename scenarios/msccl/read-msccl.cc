// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/msccl/read-msccl.h"

#include "collectives/algorithms/imported/imported-check.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/text-file.h"
#include "scenarios/yaml/xml-attributes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <pugixml.hpp>
#include <utility>
#include <vector>

namespace weir
{

namespace
{

/** The text of an XML file, for the line of what is found in it. */
class MscclSource
{
  public:
    MscclSource(const std::string& text, std::string file);

    /** The line of a character, from 1 on. O(log lines). */
    uint32_t LineAt(std::ptrdiff_t offset) const;

    /** Throws an InputError "FILE:LINE: what". */
    [[noreturn]] void Fail(uint32_t line, const std::string& what) const;

  private:
    std::string m_file;
    std::vector<std::ptrdiff_t> m_lines; //!< where each begins
};

/** An element whose attributes are read with errors that say where. All throw an InputError. */
class MscclElement
{
  public:
    MscclElement(pugi::xml_node node, const MscclSource& source);

    uint32_t Line() const;

    /** The child elements, which must all have this name. */
    std::vector<MscclElement> Children(const char* name) const;

    std::string Text(const char* attribute) const;

    /** An integer from @p least to @p most. */
    int64_t Integer(const char* attribute, int64_t least, int64_t most) const;

    /** Similarly, or @p otherwise where there is no such attribute. */
    int64_t IntegerOr(const char* attribute, int64_t least, int64_t most, int64_t otherwise) const;

    /** What an attribute's text stands for in a list of choices. */
    template <typename Value>
    Value Choice(const char* attribute,
                 const std::vector<std::pair<const char*, Value>>& choices) const
    {
        const std::string text = Text(attribute);
        std::string names;
        for (const auto& [name, value] : choices)
        {
            if (text == name)
            {
                return value;
            }
            names += (names.empty() ? "" : ", ") + std::string(name);
        }
        Fail(attribute, "'" + text + "'", "one of: " + names);
    }

    /** Throws "ATTRIBUTE: found FOUND, expected EXPECTED". */
    [[noreturn]] void Fail(const char* attribute,
                           const std::string& found,
                           const std::string& expected) const;

  private:
    pugi::xml_node m_node;
    const MscclSource* m_source;
};

MscclSource::MscclSource(const std::string& text, std::string file)
    : m_file(std::move(file)),
      m_lines{0}
{
    for (std::size_t i = 0; i < text.size(); ++i)
    {
        if (text[i] == '\n')
        {
            m_lines.push_back(static_cast<std::ptrdiff_t>(i) + 1);
        }
    }
}

uint32_t
MscclSource::LineAt(std::ptrdiff_t offset) const
{
    const auto next = std::upper_bound(m_lines.begin(), m_lines.end(), offset);
    return static_cast<uint32_t>(std::max<std::ptrdiff_t>(next - m_lines.begin(), 1));
}

void
MscclSource::Fail(uint32_t line, const std::string& what) const
{
    throw InputError(m_file + ":" + std::to_string(line) + ": " + what);
}

MscclElement::MscclElement(pugi::xml_node node, const MscclSource& source)
    : m_node(node),
      m_source(&source)
{
    if (const std::string repeated = RepeatedAttribute(node); !repeated.empty())
    {
        source.Fail(Line(),
                    std::string("<") + node.name() + "> " + repeated +
                        ": found the attribute twice, expected it once");
    }
}

uint32_t
MscclElement::Line() const
{
    return m_source->LineAt(m_node.offset_debug());
}

std::vector<MscclElement>
MscclElement::Children(const char* name) const
{
    std::vector<MscclElement> children;
    for (const pugi::xml_node node : m_node.children())
    {
        if (node.type() != pugi::node_element)
        {
            continue;
        }
        const MscclElement child(node, *m_source);
        if (std::string(node.name()) != name)
        {
            m_source->Fail(child.Line(),
                           "found <" + std::string(node.name()) + "> in <" + m_node.name() +
                               ">, expected <" + name + ">");
        }
        children.push_back(child);
    }
    return children;
}

std::string
MscclElement::Text(const char* attribute) const
{
    const pugi::xml_attribute found = m_node.attribute(attribute);
    if (!found)
    {
        m_source->Fail(Line(),
                       "found <" + std::string(m_node.name()) + "> without '" + attribute +
                           "', expected it");
    }
    return found.value();
}

int64_t
MscclElement::Integer(const char* attribute, int64_t least, int64_t most) const
{
    const std::string text = Text(attribute);
    int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || rest != end || value < least || value > most)
    {
        Fail(attribute,
             "'" + text + "'",
             "an integer from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
}

int64_t
MscclElement::IntegerOr(const char* attribute, int64_t least, int64_t most, int64_t otherwise) const
{
    return m_node.attribute(attribute) ? Integer(attribute, least, most) : otherwise;
}

void
MscclElement::Fail(const char* attribute,
                   const std::string& found,
                   const std::string& expected) const
{
    m_source->Fail(Line(),
                   "<" + std::string(m_node.name()) + "> " + attribute + ": found " + found +
                       ", expected " + expected);
}

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
