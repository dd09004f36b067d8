// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_PARAMETER_READER_H
#define WEIR_SCENARIOS_READERS_PARAMETER_READER_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/topology/link-profile.h"
#include "scenarios/yaml/yaml-node.h"

#include <optional>
#include <string>
#include <vector>

namespace weir
{

/**
 * Gives the parameters of a component the values of a YAML map. Keys that the map lacks keep the
 * component's values, unless they are required; a value may be {value, source}. All throw an
 * InputError with the place of what is missing, of another type, without its unit or out of range.
 */
class ParameterReader : public ParameterVisitor
{
  public:
    /** @param around the links around the component: its own are like it where the map does not
     * say.
     */
    explicit ParameterReader(YamlNode map, LinkProfile around = {});

    void Visit(const ParameterInfo& info, const Parameter& parameter) override;

  private:
    /** The value that the map has for a parameter, if it is meant for this kind of component. */
    std::optional<YamlNode> Find(const ParameterInfo& info) const;

    YamlNode m_map;
    LinkProfile m_around;
};

/**
 * Gives @p parameter the value at @p node.
 * @throws InputError as ParameterReader.
 */
void ReadParameter(const YamlNode& node, const Parameter& parameter);

/**
 * Reads @p component from @p map, which has its keys and those of @p others.
 * @throws InputError as ParameterReader, and at an unknown key, with the nearest that is known.
 */
void ReadParameters(const YamlNode& map,
                    Parameterized& component,
                    const std::vector<std::string>& others = {});

/**
 * Checks the keys of a map that describes one of several kinds of component. A key of another kind
 * is left over where it comes from a base, and an error where it was written.
 * @param own that this kind has. @param all that some kind has. @param what "fabrics of kind
 * 'torus'".
 * @throws InputError at a key that no kind has, with the nearest one, or that this kind has not.
 */
void CheckKeysOfKind(const YamlNode& map,
                     const std::vector<std::string>& own,
                     const std::vector<std::string>& all,
                     const std::string& what);

/** The map of a link between switches at @p node, like @p around in what it leaves out. */
LinkProfile ReadFabricLink(const YamlNode& node, const LinkProfile& around);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_PARAMETER_READER_H
