// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_PARAMETER_READER_H
#define WEIR_SCENARIOS_READERS_PARAMETER_READER_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/topology/link-profile.h"
#include "scenarios/yaml/yaml-node.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/**
 * Sets the parameters of @p component from a map whose keys have been checked. Missing keys keep
 * the component's values, unless they are required; a value may be {value, source}.
 * @param around the profile of the links around the component, the default of its own links
 * @throws InputError at what is missing, of another type, without its unit or out of range.
 */
void SetParameters(const YamlNode& map, Parameterized& component, const LinkProfile& around = {});

/** The value of a key, if it is given. */
using FindValue = std::function<std::optional<YamlNode>(const char* key)>;

/** Sets the parameters of @p component that @p find has a value for. @throws InputError */
void SetParameters(const FindValue& find, Parameterized& component);

/**
 * Reads @p component from @p map, which may hold its keys and those of @p others.
 * @throws InputError as SetParameters, and at an unknown key, with the nearest known key.
 */
void ReadParameters(const YamlNode& map,
                    Parameterized& component,
                    const std::vector<std::string>& others = {});

/** The component of @p components that @p name names. @throws InputError at an unknown name. */
template <typename Registry>
auto
ReadComponent(const YamlNode& name, const Registry& components)
{
    const auto* found = components.Find(name.AsString());
    if (found == nullptr)
    {
        name.FailChoice(components.Names());
    }
    return *found;
}

/**
 * Checks the keys of a map that describes one of several kinds of component. A key of another kind
 * is ignored where it was inherited from a base, and an error where it was written.
 * @param own keys of this kind
 * @param all keys of any kind
 * @param what name of this kind in messages: "fabrics of kind 'torus'"
 * @throws InputError at a key of no kind, with the nearest known one, or of another kind.
 */
void CheckKeysOfKind(const YamlNode& map,
                     const std::vector<std::string>& own,
                     const std::vector<std::string>& all,
                     const std::string& what);

/** Reads the map of a link between switches at @p node; missing values are those of @p around. */
LinkProfile ReadFabricLink(const YamlNode& node, const LinkProfile& around);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_PARAMETER_READER_H
