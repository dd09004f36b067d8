// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/check-wiring.h"

#include "fabric/topology/cluster.h"
#include "scenarios/readers/check-memory.h"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

namespace weir
{

namespace
{

/** Fields of a ClusterSpec that have another name in a file. */
constexpr std::pair<const char*, const char*> OTHER_NAMES[] = {
    {"node.nics", "node.nic.count"}, {"node.portsPerNic", "node.nic.ports"}};

std::string
NameInFile(const std::string& field)
{
    for (const auto& [name, other] : OTHER_NAMES)
    {
        if (field == name)
        {
            return other;
        }
    }
    return field;
}

/** The part of @p node that @p key leads to, as far as it does. */
YamlNode
Follow(YamlNode node, const std::string& key)
{
    std::size_t from = 0;
    while (from <= key.size() && node.IsMap())
    {
        const std::size_t dot = std::min(key.find('.', from), key.size());
        const std::string name = key.substr(from, dot - from);
        const auto next = node.Find(name);
        if (!next)
        {
            break;
        }
        node = *next;
        from = dot + 1;
    }
    return node;
}

} // namespace

void
FailAtField(const YamlNode& system, const std::string& message)
{
    const std::size_t colon = message.find(": ");
    if (colon == std::string::npos)
    {
        system.Fail(message);
    }
    const std::string key = NameInFile(message.substr(0, colon));
    const YamlNode node = Follow(system, key);
    const std::string where = node.Where();
    const bool isThere = where.size() >= key.size() &&
                         where.compare(where.size() - key.size(), key.size(), key) == 0;
    node.Fail((isThere ? "found " : "found in " + key + " ") + message.substr(colon + 2));
}

void
CheckWiring(const YamlNode& reference, const Catalog& catalog, const ClusterSpec& cluster)
{
    CheckMemory(cluster);
    try
    {
        CheckFabricMemory(cluster);
        const Cluster wired(cluster);
    }
    catch (const std::invalid_argument& error)
    {
        if (reference.IsScalar() &&
            std::filesystem::path(reference.AsString()).extension() == ".xml")
        {
            reference.Fail(error.what());
        }
        FailAtField(ResolveBase(reference, CatalogKind::Systems, catalog), error.what());
    }
}

} // namespace weir
