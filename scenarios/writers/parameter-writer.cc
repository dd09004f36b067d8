// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/parameter-writer.h"

#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/graph-fabric.h"
#include "scenarios/writers/write-system.h"
#include "scenarios/yaml/yaml-node.h"

#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

namespace weir
{
namespace
{

/** Writes each part of @p spec as a map under its key. */
template <typename Spec>
void
WriteParts(YamlWriter& out, Spec& spec)
{
    for (const auto& [key, part] : spec.Parts())
    {
        const YamlMap map(out, key);
        WriteParameters(out, *part);
    }
}

struct ParameterValueWriter
{
    YamlWriter& out;
    const char* key;

    void operator()(const CountParameter& count) const
    {
        out.Integer(key, count.value);
    }

    void operator()(const OptionalCountParameter& count) const
    {
        out.Integer(key, count.value);
    }

    void operator()(const CountsParameter& counts) const
    {
        out.List(key, counts.value);
    }

    void operator()(const NumberParameter& number) const
    {
        out.Number(key, number.value);
    }

    void operator()(const FlagParameter& flag) const
    {
        out.Flag(key, flag.value);
    }

    void operator()(const DurationParameter& duration) const
    {
        if (duration.value.IsInfinite())
        {
            out.Text(key, "inf");
            return;
        }
        out.Duration(key, duration.value);
    }

    void operator()(const SizeParameter& size) const
    {
        if (size.value.Count() < std::numeric_limits<int64_t>::max())
        {
            out.Size(key, size.value);
        }
    }

    void operator()(const DataRateParameter& rate) const
    {
        out.Speed(key, rate.value);
    }

    void operator()(const SeedParameter& seed) const
    {
        out.Integer(key, seed.value);
    }

    void operator()(const TextParameter& text) const
    {
        out.Text(key, text.value);
    }

    void operator()(const ChoiceParameter& choice) const
    {
        out.Text(key, choice.names[choice.index]);
    }

    void operator()(const SelectionParameter& selection) const
    {
        out.List(key, selection.indices, [&](uint32_t index) { out.Item(selection.names[index]); });
    }

    void operator()(const LinkParameter& link) const
    {
        if (link.value.rawRate > Rate())
        {
            const YamlMap map(out, key);
            WriteProfile(out, link.value);
        }
    }

    void operator()(const DimensionsParameter& dimensions) const
    {
        out.List(key, dimensions.value, [this](const FabricDimension& dimension) {
            const YamlMap map(out);
            out.Text("shape", ToString(dimension));
            out.Integer("links", dimension.links);
            out.Flag("inside", dimension.isInside);
            if (dimension.link.rawRate > Rate())
            {
                WriteProfile(out, dimension.link);
            }
        });
    }

    void operator()(const GraphParameter& graph) const
    {
        out.Text(key, std::filesystem::absolute(graph.value.file).string());
    }
};

constexpr std::size_t COMMENT_COLUMN = 40;

/** The help text and source of each key of a component. */
std::map<std::string, std::string>
RemarksOf(Parameterized& component)
{
    std::map<std::string, std::string> remarks;
    ForEachParameter(component, [&](const ParameterInfo& info, const Parameter&) {
        const std::string source = info.source;
        remarks[info.key] = info.help + (source.empty() ? "" : std::string(" [") + source + "]");
    });
    return remarks;
}

} // namespace

void
WriteCorrections(YamlWriter& out, CorrectionSpec spec)
{
    WriteParts(out, spec);
}

void
WritePackets(YamlWriter& out, PacketSpec spec)
{
    WriteParameters(out, spec);
    WriteParts(out, spec);
    const YamlMap map(out, "congestionControl");
    out.Text("kind", spec.congestionControl->Name());
    WriteParameters(out, *spec.congestionControl);
}

void
WriteParameter(YamlWriter& out, const std::string& key, const Parameter& parameter)
{
    std::visit(ParameterValueWriter{out, key.c_str()}, parameter);
}

std::string
DescribePackets(PacketSpec spec)
{
    std::map<std::string, std::map<std::string, std::string>> remarks;
    remarks[""] = RemarksOf(spec);
    for (const auto& [key, part] : spec.Parts())
    {
        remarks[key] = RemarksOf(*part);
    }
    remarks["congestionControl"] = RemarksOf(*spec.congestionControl);
    remarks["congestionControl"]["kind"] = spec.congestionControl->Description();
    YamlWriter out;
    WritePackets(out, std::move(spec));
    std::istringstream lines(out.GetText());
    std::string text;
    std::string section;
    for (std::string line; std::getline(lines, line);)
    {
        const std::size_t from = line.find_first_not_of(' ');
        const std::size_t colon = line.find(':');
        if (from == std::string::npos || colon == std::string::npos)
        {
            continue;
        }
        const std::string key = line.substr(from, colon - from);
        section = from > 0 ? section : remarks.count(key) > 0 ? key : "";
        const std::string remark = remarks[section][key];
        text += line;
        if (!remark.empty())
        {
            text +=
                std::string(line.size() < COMMENT_COLUMN ? COMMENT_COLUMN - line.size() : 1, ' ');
            text += " # " + remark;
        }
        text += "\n";
    }
    return text;
}

std::string
TextOf(const Parameter& parameter)
{
    const std::string key = "value";
    YamlWriter out;
    WriteParameter(out, key, parameter);
    const YamlNode map = YamlNode::Parse(out.GetText(), key);
    const auto value = map.Find(key);
    return value && value->IsScalar() ? value->AsString() : "";
}

void
WriteParameters(YamlWriter& out, Parameterized& component)
{
    ForEachParameter(component, [&out](const ParameterInfo& info, const Parameter& parameter) {
        WriteParameter(out, info.key, parameter);
    });
}

} // namespace weir
