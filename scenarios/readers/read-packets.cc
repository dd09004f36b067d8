// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-packets.h"

#include "fabric/parameters/parameter-keys.h"
#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "scenarios/readers/parameter-reader.h"

namespace weir
{

namespace
{

Polymorphic<CongestionControl>
ReadCongestionControl(const YamlNode& map)
{
    const CongestionControlRegistry controls = CongestionControls();
    const YamlNode kind = map.Get("kind");
    const Polymorphic<CongestionControl>* prototype = controls.Find(kind.AsString());
    if (prototype == nullptr)
    {
        kind.FailChoice(controls.Names());
    }
    Polymorphic<CongestionControl> control = *prototype;
    std::vector<std::string> own = KeysOf(*control);
    own.emplace_back("kind");
    std::vector<std::string> all = own;
    for (Polymorphic<CongestionControl> each : controls)
    {
        const std::vector<std::string> keys = KeysOf(*each);
        all.insert(all.end(), keys.begin(), keys.end());
    }
    CheckKeysOfKind(
        map, own, all, "congestion controls of kind '" + std::string(control->Name()) + "'");
    ParameterReader reader(map);
    control->VisitParameters(reader);
    return control;
}

} // namespace

PacketSpec
ReadPackets(const YamlNode& map, const std::vector<std::string>& others)
{
    PacketSpec spec;
    std::vector<std::string> known = others;
    for (const auto& [key, part] : spec.Parts())
    {
        known.emplace_back(key);
    }
    known.emplace_back("congestionControl");
    ReadParameters(map, spec, known);
    for (const auto& [key, part] : spec.Parts())
    {
        if (const auto found = map.Find(key))
        {
            ReadParameters(*found, *part);
        }
    }
    if (const auto control = map.Find("congestionControl"))
    {
        spec.congestionControl = ReadCongestionControl(*control);
    }
    return spec;
}

} // namespace weir
