// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/parameter-writer.h"

#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/network-graph.h"
#include "scenarios/writers/write-system.h"

#include <filesystem>

namespace weir
{
namespace
{

/** The keys of each part of @p spec. */
template <typename Spec>
void
WriteParts(YamlWriter& out, ParameterWriter& writer, Spec& spec)
{
    for (const auto& [key, part] : spec.Parts())
    {
        out.BeginMap(key);
        part->VisitParameters(writer);
        out.EndMap();
    }
}

} // namespace

void
WriteCorrections(YamlWriter& out, CorrectionSpec spec)
{
    ParameterWriter writer(out);
    WriteParts(out, writer, spec);
}

void
WritePackets(YamlWriter& out, PacketSpec spec)
{
    ParameterWriter writer(out);
    spec.VisitParameters(writer);
    WriteParts(out, writer, spec);
    out.BeginMap("congestionControl");
    out.Text("kind", spec.congestionControl->Name());
    spec.congestionControl->VisitParameters(writer);
    out.EndMap();
}

ParameterWriter::ParameterWriter(YamlWriter& out)
    : m_out(out)
{
}

void
ParameterWriter::Count(const ParameterInfo& info, uint32_t& value, ParameterRange<uint32_t> range)
{
    m_out.Integer(info.key, value);
}

void
ParameterWriter::OptionalCount(const ParameterInfo& info,
                               std::optional<uint32_t>& value,
                               ParameterRange<uint32_t> range)
{
    if (value)
    {
        m_out.Integer(info.key, *value);
    }
}

void
ParameterWriter::Counts(const ParameterInfo& info,
                        std::vector<uint32_t>& values,
                        ParameterRange<uint32_t> range)
{
    m_out.BeginList(info.key);
    for (const uint32_t value : values)
    {
        m_out.Item(std::to_string(value));
    }
    m_out.EndList();
}

void
ParameterWriter::Number(const ParameterInfo& info, double& value, ParameterRange<double> range)
{
    m_out.Number(info.key, value);
}

void
ParameterWriter::Flag(const ParameterInfo& info, bool& value)
{
    m_out.Flag(info.key, value);
}

void
ParameterWriter::Duration(const ParameterInfo& info, Time& value, ParameterRange<Time> range)
{
    if (value.IsInfinite())
    {
        m_out.Text(info.key, "inf");
        return;
    }
    m_out.Duration(info.key, value);
}

void
ParameterWriter::Size(const ParameterInfo& info, Bytes& value, ParameterRange<Bytes> range)
{
    m_out.Size(info.key, value);
}

void
ParameterWriter::DataRate(const ParameterInfo& info, Rate& value, ParameterRange<Rate> range)
{
    m_out.Speed(info.key, value);
}

void
ParameterWriter::Seed(const ParameterInfo& info, uint64_t& value)
{
    m_out.Integer(info.key, value);
}

void
ParameterWriter::Text(const ParameterInfo& info, std::string& value)
{
    m_out.Text(info.key, value);
}

void
ParameterWriter::Choice(const ParameterInfo& info,
                        std::size_t& index,
                        const std::vector<std::string>& names)
{
    m_out.Text(info.key, names[index]);
}

void
ParameterWriter::Selection(const ParameterInfo& info,
                           std::vector<uint32_t>& indices,
                           const std::vector<std::string>& names,
                           const std::string& what)
{
    m_out.BeginList(info.key);
    for (const uint32_t index : indices)
    {
        m_out.Item(names[index]);
    }
    m_out.EndList();
}

void
ParameterWriter::Link(const ParameterInfo& info, LinkProfile& value)
{
    if (value.rawRate > Rate())
    {
        m_out.BeginMap(info.key);
        WriteProfile(m_out, value);
        m_out.EndMap();
    }
}

void
ParameterWriter::Dimensions(const ParameterInfo& info, std::vector<FabricDimension>& values)
{
    m_out.BeginList(info.key);
    for (const FabricDimension& dimension : values)
    {
        m_out.BeginMap();
        m_out.Text("shape", ToString(dimension));
        m_out.Integer("links", dimension.links);
        m_out.Flag("inside", dimension.isInside);
        if (dimension.link.rawRate > Rate())
        {
            WriteProfile(m_out, dimension.link);
        }
        m_out.EndMap();
    }
    m_out.EndList();
}

void
ParameterWriter::Graph(const ParameterInfo& info, NetworkGraph& value)
{
    m_out.Text(info.key, std::filesystem::absolute(value.file).string());
}

} // namespace weir
