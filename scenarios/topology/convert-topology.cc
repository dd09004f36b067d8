// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/convert-topology.h"

#include "fabric/kinds/no-fabric.h"
#include "fabric/nodes/node-wiring.h"
#include "scenarios/readers/attachments.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/topology/graphml.h"
#include "scenarios/topology/nccl-xml.h"
#include "scenarios/writers/write-system.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/text-file.h"
#include "scenarios/yaml/yaml-node.h"

#include <filesystem>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

/** @p cluster as a system file, with PCIe slots normalized as a reader of another format would. */
YamlNode
AsFile(ClusterSpec cluster)
{
    cluster.name = "x";
    SetAttachments(cluster.node, AttachmentsOf(cluster.node), cluster.node.gpuLink.has_value());
    YamlWriter out;
    WriteSystem(out, cluster);
    return YamlNode::Parse(out.GetText(), "topology");
}

/** "a, b; path.c (d)": the keys that differ between two maps at @p path, and those below them. */
std::string
Differences(const YamlNode& there, const YamlNode& back, const std::string& path)
{
    std::vector<std::string> own;
    std::string below;
    for (const std::string& key : there.Keys())
    {
        const YamlNode value = there.Get(key);
        const auto other = back.Find(key);
        if (other && value.IsMap() && other->IsMap())
        {
            const std::string inside =
                Differences(value, *other, path.empty() ? key : path + "." + key);
            below += (below.empty() || inside.empty() ? "" : "; ") + inside;
        }
        else if (!other || value.Dump() != other->Dump())
        {
            own.push_back(key);
        }
    }
    for (const std::string& key : back.Keys())
    {
        if (!there.Has(key))
        {
            own.push_back(key);
        }
    }
    const std::string keys = JoinNames(own);
    return (own.empty() || path.empty() ? keys : path + " (" + keys + ")") +
           (own.empty() || below.empty() ? "" : "; ") + below;
}

} // namespace

std::string
LostKeys(const ClusterSpec& there, const ClusterSpec& back)
{
    return Differences(AsFile(there), AsFile(back), "");
}

TopologyFormat
FormatOf(const std::string& path)
{
    if (std::filesystem::path(path).extension() == ".yaml")
    {
        return TopologyFormat::Yaml;
    }
    if (!IsTopologyFile(path))
    {
        throw InputError("--output: found '" + path +
                         "', expected a file ending in .yaml, .xml or .graphml");
    }
    return IsGraphMlFile(path) ? TopologyFormat::GraphMl : TopologyFormat::NcclXml;
}

ClusterSpec
ReadTopology(const std::string& nameOrPath, const std::string& base, const Catalog& catalog)
{
    if (!IsTopologyFile(nameOrPath))
    {
        return ReadSystem(YamlNode::ParseArgument(nameOrPath, "SYSTEM"), catalog).cluster;
    }
    ClusterSpec cluster;
    cluster.fabric.kind = NoFabric();
    if (!base.empty())
    {
        cluster = ReadSystem(YamlNode::ParseArgument(base, "--base"), catalog).cluster;
    }
    cluster.name = std::filesystem::path(nameOrPath).stem().string();
    if (IsGraphMlFile(nameOrPath))
    {
        ClusterSpec read = ReadGraphMl(nameOrPath, catalog);
        cluster.node = std::move(read.node);
        if (base.empty())
        {
            cluster.nodes = read.nodes;
            cluster.fabric = std::move(read.fabric);
        }
        return cluster;
    }
    const NodeSpec under = cluster.node;
    cluster.node = ReadNcclXml(nameOrPath, base.empty() ? nullptr : &under, catalog);
    cluster.node.costs = under.costs;
    return cluster;
}

std::string
WriteTopology(const ClusterSpec& cluster, TopologyFormat format)
{
    switch (format)
    {
    case TopologyFormat::Yaml: {
        YamlWriter out;
        WriteSystem(out, cluster);
        return out.GetText() + "\n";
    }
    case TopologyFormat::NcclXml:
        return WriteNcclXml(cluster);
    case TopologyFormat::GraphMl:
        return WriteGraphMl(cluster);
    }
    throw std::logic_error("WriteTopology: not a format");
}

} // namespace weir
