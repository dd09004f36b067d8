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

/** Keys of one map that differ. */
struct Difference
{
    std::string path; //!< key path of the map
    std::vector<std::string> keys;
};

class Comparison
{
  public:
    void Compare(const YamlNode& there, const YamlNode& back, const std::string& path)
    {
        const std::size_t mine = m_differences.size();
        m_differences.push_back({path, {}});
        for (const std::string& key : there.Keys())
        {
            const YamlNode value = there.Get(key);
            const auto other = back.Find(key);
            if (other && value.IsMap() && other->IsMap())
            {
                Compare(value, *other, path.empty() ? key : path + "." + key);
            }
            else if (!other || value.Dump() != other->Dump())
            {
                m_differences[mine].keys.push_back(key);
            }
        }
        for (const std::string& key : back.Keys())
        {
            if (!there.Has(key))
            {
                m_differences[mine].keys.push_back(key);
            }
        }
    }

    std::string Text() const
    {
        std::string text;
        for (const Difference& difference : m_differences)
        {
            const std::string keys = JoinNames(difference.keys);
            if (!keys.empty())
            {
                text += (text.empty() ? "" : "; ") +
                        (difference.path.empty() ? keys : difference.path + " (" + keys + ")");
            }
        }
        return text;
    }

  private:
    std::vector<Difference> m_differences;
};

} // namespace

std::string
LostKeys(const ClusterSpec& there, const ClusterSpec& back)
{
    Comparison comparison;
    comparison.Compare(AsFile(there), AsFile(back), "");
    return comparison.Text();
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
