// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/check-wiring.h"

#include "fabric/topology/cluster.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/text-file.h"

#include <stdexcept>
#include <unistd.h>

namespace weir
{
namespace
{

/** Measured: one all-reduce planned on 1024 and 4096 nodes of hgx-h100 takes 98 and 340 MB. */
constexpr double BYTES_PER_GPU = 10e3;
/** Measured by wiring dragonflies of 1e5 to 1e6 routers and 1e6 to 1e7 wires. */
constexpr double BYTES_PER_SWITCH = 400;
constexpr double BYTES_PER_WIRE = 200;
/** Planning one all-reduce on this many GPUs takes about a minute, and longer on more. */
constexpr uint64_t MAX_GPUS = uint64_t{1} << 18;

double
MemoryOfMachine()
{
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<double>(sysconf(_SC_PAGESIZE));
}

/** Why @p needed bytes are too much for this machine; empty when they are not. */
std::string
WhyTooMuch(double needed)
{
    const auto inGigabytes = [](double bytes) {
        return std::to_string(static_cast<int64_t>(bytes / 1e9 + 0.5)) + " GB";
    };
    const double there = MemoryOfMachine();
    return needed > there ? ", which take about " + inGigabytes(needed) +
                                " of memory, expected no more than the " + inGigabytes(there) +
                                " of this machine"
                          : "";
}

/** The key in a file of a field of a ClusterSpec. */
std::string
NameInFile(const std::string& field)
{
    return field == "node.nics"          ? "node.nic.count"
           : field == "node.portsPerNic" ? "node.nic.ports"
                                         : field;
}

} // namespace

void
CheckMemory(const ClusterSpec& cluster, const std::string& where)
{
    const std::string found = where + ": found " + std::to_string(cluster.nodes) + " of " +
                              std::to_string(cluster.node.gpus) + " GPUs";
    if (uint64_t{cluster.nodes} * cluster.node.gpus > MAX_GPUS)
    {
        throw InputError(found + ", expected at most " + std::to_string(MAX_GPUS) + " GPUs");
    }
    const std::string why = WhyTooMuch(BYTES_PER_GPU * cluster.nodes * cluster.node.gpus);
    if (!why.empty())
    {
        throw InputError(found + why);
    }
}

void
CheckFabricMemory(const ClusterSpec& cluster)
{
    const FabricSize size = cluster.fabric.kind->FixedSize(cluster);
    const std::string why =
        WhyTooMuch(BYTES_PER_SWITCH * size.switches + BYTES_PER_WIRE * size.wires);
    if (!why.empty())
    {
        throw std::invalid_argument(std::string("fabric.kind: '") + cluster.fabric.kind->Name() +
                                    "' with " + FormatNumber(size.switches) + " switches and " +
                                    FormatNumber(size.wires) + " wires" + why);
    }
}

void
FailAtField(const YamlNode& system, const std::string& message)
{
    const std::size_t colon = message.find(": ");
    if (colon == std::string::npos)
    {
        system.Fail(message);
    }
    const std::string key = NameInFile(message.substr(0, colon));
    const YamlNode node = system.FindDeepest(key).first;
    const std::string where = node.Where();
    const bool isThere = where.size() >= key.size() &&
                         where.compare(where.size() - key.size(), key.size(), key) == 0;
    node.Fail((isThere ? "found " : "found in " + key + " ") + message.substr(colon + 2));
}

std::vector<std::string>
CheckWiring(const YamlNode& reference, const Catalog& catalog, const ClusterSpec& cluster)
{
    const bool isTopology = reference.IsScalar() && IsTopologyFile(reference.AsString());
    CheckMemory(cluster);
    std::string unmet;
    try
    {
        CheckFabricMemory(cluster);
        const Cluster wired(cluster);
        unmet = cluster.nodes > 1 ? cluster.fabric.kind->Unmet(wired.GetTopology()) : "";
    }
    catch (const std::invalid_argument& error)
    {
        if (isTopology)
        {
            reference.Fail(error.what());
        }
        FailAtField(ResolveBase(reference, CatalogKind::Systems, catalog), error.what());
    }
    if (unmet.empty() || isTopology)
    {
        return {};
    }
    const std::size_t colon = unmet.find(": ");
    const YamlNode value = ResolveBase(reference, CatalogKind::Systems, catalog)
                               .FindDeepest(unmet.substr(0, colon))
                               .first;
    if (value.IsInherited())
    {
        return {};
    }
    return {value.Where() + ": found '" + value.AsString() + "', " + unmet.substr(colon + 2)};
}

} // namespace weir
