// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_SCENARIOS_FLOW_FILES_H
#define WEIR_TESTS_SCENARIOS_FLOW_FILES_H

#include "scenarios/flows/flow-network.h"
#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/flows/play-flows.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <unistd.h>

namespace weir
{

/** A text file in the test's temporary folder, removed at destruction. */
class TextFile
{
  public:
    explicit TextFile(const std::string& text)
        : m_path(testing::TempDir() + "weir-flows-" + std::to_string(::getpid()) + "-" +
                 std::to_string(reinterpret_cast<std::uintptr_t>(this)))
    {
        std::ofstream(m_path) << text;
    }

    ~TextFile()
    {
        std::filesystem::remove(m_path);
    }

    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;

    const std::string& Path() const
    {
        return m_path;
    }

    /** The content of the file. */
    std::string Text() const
    {
        std::ifstream file(m_path);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /** @p message without this file's folder and name: "2: src: ...". */
    std::string Strip(std::string message) const
    {
        const auto at = message.find(m_path + ":");
        return at == std::string::npos ? message : message.erase(at, m_path.size() + 1);
    }

  private:
    std::string m_path;
};

/** Flows simulated from the texts of two files, and their network. */
struct PlayedFlows
{
    std::unique_ptr<FlowNetwork> network;
    FlowResults results;
    FlowRun run;

    double Fct(std::size_t flow) const
    {
        return results.CompletionTime(flow).ToSeconds();
    }

    double Slowdown(std::size_t flow) const
    {
        return results.Slowdown(flow, network->GetTransport());
    }
};

inline PlayedFlows
PlayTexts(const std::string& topology,
          const std::string& flows,
          uint64_t hashSeed = 1,
          const Polymorphic<RoutingPolicy>& routing = EcmpRouting())
{
    const TextFile topologyFile(topology);
    const TextFile flowFile(flows);
    PlayedFlows played;
    FabricSpec fabric;
    fabric.routing = routing;
    fabric.hashSeed = hashSeed;
    played.network = std::make_unique<HostNetwork>(ReadHpccTopology(topologyFile.Path()), fabric);
    FlowFile file(flowFile.Path());
    played.results = ReadFlows(file, *played.network);
    PlainLoop loop;
    played.run = PlayFlows(played.results, *played.network, loop, [](Time) {});
    return played;
}

} // namespace weir

#endif // WEIR_TESTS_SCENARIOS_FLOW_FILES_H
