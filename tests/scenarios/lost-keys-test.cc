// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/cluster.h"
#include "scenarios/topology/convert-topology.h"
#include "scratch-folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

/**
 * @file
 * Keys that topology formats preserve, for every system of the catalog.
 */
namespace weir
{
namespace
{

/** @p cluster, written to @p path and read back. */
ClusterSpec
Through(const ClusterSpec& cluster, const std::string& path)
{
    std::ofstream(path) << WriteTopology(cluster, FormatOf(path));
    return ReadTopology(path, "", Catalog());
}

/** Every system of the catalog, with two nodes where its fabric connects nodes. */
std::vector<ClusterSpec>
CatalogSystems()
{
    std::vector<ClusterSpec> clusters;
    const auto listed = Catalog().List(CatalogKind::Systems);
    EXPECT_FALSE(listed.empty());
    for (const CatalogEntry& system : listed)
    {
        clusters.push_back(ReadTopology(system.name, "", Catalog()));
        clusters.back().nodes = clusters.back().fabric.kind->JoinsNodes() ? 2 : 1;
    }
    return clusters;
}

// A round trip through YAML preserves every key.
TEST(LostKeys, YamlLosesNothing)
{
    const ScratchFolder folder;
    for (const ClusterSpec& there : CatalogSystems())
    {
        EXPECT_EQ(LostKeys(there, Through(there, folder / "x.yaml")), "") << there.name;
    }
}

// GraphML preserves the node with its costs and sources and the links of the network, but not the
// parameters of the fabric.
TEST(LostKeys, GraphMlLosesTheFabricsShapeOnly)
{
    const ScratchFolder folder;
    for (const ClusterSpec& there : CatalogSystems())
    {
        const ClusterSpec back = Through(there, folder / "x.graphml");
        const std::string lost = LostKeys(there, back);
        EXPECT_EQ(lost.find("node"), std::string::npos) << there.name << ": " << lost;
        EXPECT_EQ(lost.empty(), !there.fabric.kind->JoinsNodes()) << there.name << lost;
        EXPECT_EQ(back.nodes, there.nodes);
        const Cluster one(there);
        const Cluster other(back);
        EXPECT_EQ(other.GetTopology().LinkCount(), one.GetTopology().LinkCount()) << there.name;
    }
}

// Keys that NCCL's XML cannot express are reported one by one.
TEST(LostKeys, WhatNcclXmlLosesIsNamed)
{
    const ScratchFolder folder;
    const ClusterSpec there = ReadTopology("alps-gh200", "", Catalog());
    const std::string lost = LostKeys(there, Through(there, folder / "x.xml"));
    for (const char* words : {"node (costs", "node.nvlink (", "fabric (kind"})
    {
        EXPECT_NE(lost.find(words), std::string::npos) << lost;
    }
    EXPECT_EQ(lost.find("links,"), std::string::npos) << lost; // the wiring is preserved
}

} // namespace
} // namespace weir
