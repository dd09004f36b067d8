// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/left-out-clusters.h"

#include "scenarios/readers/read-system.h"
#include "scenarios/readers/yaml-keys.h"

#include <string>
#include <utility>

namespace weir
{

namespace
{

/** Puts the system @p node in the place of its base under @p runs. */
void
ReplaceSystem(const YamlNode& node, const Catalog& catalog, std::vector<MeasuredCollective>& runs)
{
    const std::string base = node.Get("base").AsString();
    const ClusterSpec replacement = ReadSystem(node, catalog).cluster;
    bool isUsed = false;
    for (MeasuredCollective& run : runs)
    {
        ClusterSpec& cluster = run.sweep.cluster;
        if (cluster.name == base)
        {
            const uint32_t nodes = cluster.nodes;
            cluster = replacement;
            cluster.nodes = nodes;
            isUsed = true;
        }
    }
    if (!isUsed)
    {
        node.Get("base").Fail("found '" + base + "', expected a system of the suite's runs");
    }
}

} // namespace

std::vector<MeasuredCollective>
ReadLeftOutClusters(const YamlNode& leftOut, const Catalog& catalog)
{
    std::vector<std::pair<std::string, YamlNode>> suites; // name and systems
    for (const YamlNode& item : leftOut.Items())
    {
        item.CheckKeys(YamlKeysOf("suite.leftOut"));
        const YamlNode suite = item.Get("suite");
        const std::string name = suite.AsString();
        if (!YamlNode::Load(catalog.Find(CatalogKind::Suites, suite)).Has("collectives"))
        {
            suite.Fail("found '" + name + "', expected a suite of collectives");
        }
        suites.emplace_back(name, item.Get("systems"));
    }
    std::vector<MeasuredCollective> all;
    for (const CatalogEntry& entry : catalog.List(CatalogKind::Suites))
    {
        const YamlNode node = YamlNode::Load(entry.path);
        if (!node.Has("collectives"))
        {
            continue;
        }
        std::vector<MeasuredCollective> runs = ReadCollectiveTable(node, catalog);
        for (const auto& [name, systems] : suites)
        {
            for (const YamlNode& system : systems.Items())
            {
                if (name == entry.name)
                {
                    ReplaceSystem(system, catalog, runs);
                }
            }
        }
        for (MeasuredCollective& run : runs)
        {
            run.suite = entry.name;
            all.push_back(std::move(run));
        }
    }
    return all;
}

} // namespace weir
