// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/describe/describe-packets.h"

#include "fabric/parameters/parameter-visitor.h"
#include "scenarios/writers/parameter-writer.h"

#include <map>
#include <sstream>
#include <utility>

namespace weir
{

namespace
{

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

} // namespace weir
