// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/topology/convert-topology.h"

#include "fabric/kinds/no-fabric.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/topology/graphml.h"
#include "scenarios/topology/read-nccl-xml.h"
#include "scenarios/topology/write-nccl-xml.h"
#include "scenarios/writers/write-system.h"
#include "scenarios/yaml/input-error.h"

#include <filesystem>
#include <utility>

namespace weir
{
namespace
{

std::string
Ending(const std::string& path)
{
    return std::filesystem::path(path).extension().string();
}

} // namespace

TopologyFormat
FormatOf(const std::string& path)
{
    const std::string ending = Ending(path);
    if (ending == ".yaml")
    {
        return TopologyFormat::Yaml;
    }
    if (ending == ".xml")
    {
        return TopologyFormat::NcclXml;
    }
    if (ending == ".graphml")
    {
        return TopologyFormat::GraphMl;
    }
    throw InputError("--output: found '" + path +
                     "', expected a file ending in .yaml, .xml or .graphml");
}

ClusterSpec
ReadTopology(const std::string& nameOrPath, const std::string& base, const Catalog& catalog)
{
    const std::string ending = Ending(nameOrPath);
    if (ending != ".xml" && ending != ".graphml")
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
    if (ending == ".graphml")
    {
        ClusterSpec read = ReadGraphMl(nameOrPath);
        cluster.node = std::move(read.node);
        if (base.empty())
        {
            cluster.nodes = read.nodes;
            cluster.fabric = std::move(read.fabric);
        }
        return cluster;
    }
    const NodeSpec under = cluster.node;
    cluster.node = ReadNcclXml(nameOrPath, base.empty() ? nullptr : &under);
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
        out.BeginMap();
        WriteSystemKeys(out, cluster);
        out.EndMap();
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
