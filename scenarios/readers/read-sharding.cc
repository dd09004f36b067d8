// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-sharding.h"

#include "scenarios/readers/scenario-names.h"

namespace weir
{

namespace
{

constexpr int64_t MOST_RANKS = 65535;

void
ReadFlag(const YamlNode& node, const char* key, bool& value)
{
    if (const auto found = node.Find(key))
    {
        value = found->AsBool();
    }
}

} // namespace

DataSharding
ReadSharding(const YamlNode& node)
{
    DataSharding sharding;
    if (!node.IsMap())
    {
        sharding.state = node.AsEnum(ShardedStateNames());
        return sharding;
    }
    node.CheckKeys({"state",
                    "ranks",
                    "reshard",
                    "prefetch",
                    "everyPass",
                    "scatter",
                    "overlapGather",
                    "perParameter"});
    sharding.state = node.Get("state").AsEnum(ShardedStateNames());
    if (const auto ranks = node.Find("ranks"))
    {
        sharding.ranks = static_cast<uint32_t>(ranks->AsInteger(0, MOST_RANKS));
    }
    if (const auto prefetch = node.Find("prefetch"))
    {
        sharding.prefetch = static_cast<uint32_t>(prefetch->AsInteger(0, MOST_RANKS));
    }
    ReadFlag(node, "reshard", sharding.reshard);
    ReadFlag(node, "everyPass", sharding.everyPass);
    ReadFlag(node, "scatter", sharding.scatter);
    ReadFlag(node, "overlapGather", sharding.overlapGather);
    ReadFlag(node, "perParameter", sharding.perParameter);
    return sharding;
}

} // namespace weir
