// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PARAMETERS_PARAMETER_VISITOR_H
#define WEIR_FABRIC_PARAMETERS_PARAMETER_VISITOR_H

#include "fabric/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * Parameters that describe themselves: a component (a fabric kind, a routing policy, a congestion
 * control, a switch) lists its values once, each with key, help, range and source. The reader and
 * the writer of YAML files, `--set`, the attributes of ns-3 objects and the reference are visitors
 * of that list, so a new parameter is one line in its component and nothing elsewhere.
 *
 * The default of a parameter is its value in a default-constructed component.
 */
namespace weir
{

struct FabricDimension;
struct LinkProfile;
struct NetworkGraph;

/** Where a value may come from. */
enum class Presence : uint8_t
{
    Optional, //!< the file, a base of the file, else the default
    Required, //!< the file or a base of it: no default would make sense
    OwnKind   //!< as Optional, but of bases only those of the same kind: the key means something
              //!< else in others
};

/** What a user is told of a parameter. */
struct ParameterInfo
{
    const char* key;        //!< in camelCase, as in YAML; the ns-3 attribute is in PascalCase
    const char* help;       //!< one sentence
    const char* source{""}; //!< where the default comes from; empty: a choice of the user
    Presence presence{Presence::Optional};
};

/** A parameter that a file must give. */
constexpr ParameterInfo
Required(const char* key, const char* help)
{
    return {key, help, "", Presence::Required};
}

/** The values that a parameter may have, both ends included. */
template <typename T>
struct ParameterRange
{
    T minimum;
    T maximum;
};

/**
 * Looks at the parameters of a component, or changes them, in the order of the component's list.
 * A visitor that cares for a few types only is a PartialVisitor.
 */
class ParameterVisitor
{
  public:
    virtual ~ParameterVisitor() = default;

    virtual void Count(const ParameterInfo& info,
                       uint32_t& value,
                       ParameterRange<uint32_t> range) = 0;

    /** A count that may be left open; what that means, the help says. */
    virtual void OptionalCount(const ParameterInfo& info,
                               std::optional<uint32_t>& value,
                               ParameterRange<uint32_t> range) = 0;

    /** A list of counts, "4x4x2" as text; at least one. */
    virtual void Counts(const ParameterInfo& info,
                        std::vector<uint32_t>& values,
                        ParameterRange<uint32_t> range) = 0;
    virtual void Number(const ParameterInfo& info, double& value, ParameterRange<double> range) = 0;
    virtual void Flag(const ParameterInfo& info, bool& value) = 0;
    virtual void Duration(const ParameterInfo& info, Time& value, ParameterRange<Time> range) = 0;
    virtual void Size(const ParameterInfo& info, Bytes& value, ParameterRange<Bytes> range) = 0;
    virtual void DataRate(const ParameterInfo& info, Rate& value, ParameterRange<Rate> range) = 0;
    virtual void Seed(const ParameterInfo& info, uint64_t& value) = 0;
    virtual void Text(const ParameterInfo& info, std::string& value) = 0;

    /** One of @p names, by its index. */
    virtual void Choice(const ParameterInfo& info,
                        std::size_t& index,
                        const std::vector<std::string>& names) = 0;

    /**
     * Some of @p names by their indices, in any order and each once.
     * @param what a name is, for messages: "a host of 'net.yaml'".
     */
    virtual void Selection(const ParameterInfo& info,
                           std::vector<uint32_t>& indices,
                           const std::vector<std::string>& names,
                           const std::string& what) = 0;

    /** A link of the component; without a rate it is like the links around it. */
    virtual void Link(const ParameterInfo& info, LinkProfile& value) = 0;

    /** Dimensions of a network, in the notation of ParseDimensions as text; at least one. */
    virtual void Dimensions(const ParameterInfo& info, std::vector<FabricDimension>& values) = 0;

    /** A network that a file holds. */
    virtual void Graph(const ParameterInfo& info, NetworkGraph& value) = 0;

    /** One of some named values of an enumeration. */
    template <typename E>
    void Enum(const ParameterInfo& info,
              E& value,
              const std::vector<std::pair<const char*, E>>& choices)
    {
        std::vector<std::string> names;
        std::size_t index = 0;
        for (const auto& [name, choice] : choices)
        {
            index = choice == value ? names.size() : index;
            names.emplace_back(name);
        }
        Choice(info, index, names);
        value = choices[index].second;
    }
};

/** A component with parameters. */
class Parameterized
{
  public:
    virtual ~Parameterized() = default;

    /** Shows every parameter to @p visitor, always in the same order. */
    virtual void VisitParameters(ParameterVisitor& visitor) = 0;
};

} // namespace weir

#endif // WEIR_FABRIC_PARAMETERS_PARAMETER_VISITOR_H
