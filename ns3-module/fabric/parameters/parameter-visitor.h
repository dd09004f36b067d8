// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PARAMETERS_PARAMETER_VISITOR_H
#define WEIR_FABRIC_PARAMETERS_PARAMETER_VISITOR_H

#include "fabric/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/**
 * @file
 * Self-describing parameters: a component (a fabric kind, a routing policy, a congestion control, a
 * switch) lists its values once, each with key, help, range and source. The reader and the writer
 * of YAML files, `--set`, the attributes of ns-3 objects and the reference are visitors of that
 * list, so a new parameter takes one statement in its component and no other change.
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
    Optional, //!< the file, its bases, or the default
    Required, //!< the file or its bases; there is no sensible default
    OwnKind   //!< as Optional, but only from bases of the same kind, as the key has another meaning
              //!< in others
};

/** The documentation of a parameter. */
struct ParameterInfo
{
    const char* key;        //!< camelCase, as in YAML; PascalCase as ns-3 attribute
    const char* help;       //!< one sentence
    const char* source{""}; //!< source of the default; empty: a choice of the user
    Presence presence{Presence::Optional};
};

/** A parameter that a file must give. */
constexpr ParameterInfo
Required(const char* key, const char* help)
{
    return {key, help, "", Presence::Required};
}

/** The range of a parameter, inclusive. */
template <typename T>
struct ParameterRange
{
    T minimum;
    T maximum;
};

/** A reference to a parameter's value, and its range. */
template <typename T, typename R = T>
struct RangedParameter
{
    T& value;
    ParameterRange<R> range;
};

using CountParameter = RangedParameter<uint32_t>;

/** An optional count; the help says what its absence means. */
using OptionalCountParameter = RangedParameter<std::optional<uint32_t>, uint32_t>;

/** A list of at least one count; "4x4x2" as text. */
using CountsParameter = RangedParameter<std::vector<uint32_t>, uint32_t>;
using NumberParameter = RangedParameter<double>;
using DurationParameter = RangedParameter<Time>;
using SizeParameter = RangedParameter<Bytes>;
using DataRateParameter = RangedParameter<Rate>;

/** A value without a range: a flag, a seed (uint64_t) or a text; or one of those below. */
template <typename T>
struct PlainParameter
{
    T& value;
};

using FlagParameter = PlainParameter<bool>;
using SeedParameter = PlainParameter<uint64_t>;
using TextParameter = PlainParameter<std::string>;

/** A link of the component; without a rate it has the profile of the surrounding links. */
using LinkParameter = PlainParameter<LinkProfile>;

/** Dimensions of a network, at least one; in the notation of ParseDimensions as text. */
using DimensionsParameter = PlainParameter<std::vector<FabricDimension>>;

/** A network from a file. */
using GraphParameter = PlainParameter<NetworkGraph>;

/** One of several names, by index. */
struct ChoiceParameter
{
    std::size_t& index;
    const std::vector<std::string>& names;
};

/** A subset of several names, by index, in any order, each once. */
struct SelectionParameter
{
    std::vector<uint32_t>& indices;
    const std::vector<std::string>& names;
    const std::string& what; //!< description of a name in messages: "a host of 'net.yaml'"
};

/** A parameter of any type. */
using Parameter = std::variant<CountParameter,
                               OptionalCountParameter,
                               CountsParameter,
                               NumberParameter,
                               FlagParameter,
                               DurationParameter,
                               SizeParameter,
                               DataRateParameter,
                               SeedParameter,
                               TextParameter,
                               ChoiceParameter,
                               SelectionParameter,
                               LinkParameter,
                               DimensionsParameter,
                               GraphParameter>;

/** Reads or changes the parameters of a component, in the order of its list. */
class ParameterVisitor
{
  public:
    virtual ~ParameterVisitor() = default;

    virtual void Visit(const ParameterInfo& info, const Parameter& parameter) = 0;

    void Count(const ParameterInfo& info, uint32_t& value, ParameterRange<uint32_t> range)
    {
        Visit(info, CountParameter{value, range});
    }

    void OptionalCount(const ParameterInfo& info,
                       std::optional<uint32_t>& value,
                       ParameterRange<uint32_t> range)
    {
        Visit(info, OptionalCountParameter{value, range});
    }

    void Counts(const ParameterInfo& info,
                std::vector<uint32_t>& values,
                ParameterRange<uint32_t> range)
    {
        Visit(info, CountsParameter{values, range});
    }

    void Number(const ParameterInfo& info, double& value, ParameterRange<double> range)
    {
        Visit(info, NumberParameter{value, range});
    }

    void Flag(const ParameterInfo& info, bool& value)
    {
        Visit(info, FlagParameter{value});
    }

    void Duration(const ParameterInfo& info, Time& value, ParameterRange<Time> range)
    {
        Visit(info, DurationParameter{value, range});
    }

    void Size(const ParameterInfo& info, Bytes& value, ParameterRange<Bytes> range)
    {
        Visit(info, SizeParameter{value, range});
    }

    void DataRate(const ParameterInfo& info, Rate& value, ParameterRange<Rate> range)
    {
        Visit(info, DataRateParameter{value, range});
    }

    void Seed(const ParameterInfo& info, uint64_t& value)
    {
        Visit(info, SeedParameter{value});
    }

    void Text(const ParameterInfo& info, std::string& value)
    {
        Visit(info, TextParameter{value});
    }

    void Choice(const ParameterInfo& info,
                std::size_t& index,
                const std::vector<std::string>& names)
    {
        Visit(info, ChoiceParameter{index, names});
    }

    void Selection(const ParameterInfo& info,
                   std::vector<uint32_t>& indices,
                   const std::vector<std::string>& names,
                   const std::string& what)
    {
        Visit(info, SelectionParameter{indices, names, what});
    }

    void Link(const ParameterInfo& info, LinkProfile& value)
    {
        Visit(info, LinkParameter{value});
    }

    void Dimensions(const ParameterInfo& info, std::vector<FabricDimension>& values)
    {
        Visit(info, DimensionsParameter{values});
    }

    void Graph(const ParameterInfo& info, NetworkGraph& value)
    {
        Visit(info, GraphParameter{value});
    }

    /** One of several named values of an enumeration; @p choices must not be empty. */
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

    /** Passes every parameter to @p visitor, always in the same order. */
    virtual void VisitParameters(ParameterVisitor& visitor) = 0;
};

/** A component with a name that is unique among components of its sort. */
class Component : public Parameterized
{
  public:
    /** The name in files. */
    const char* Name() const
    {
        return m_name;
    }

    /** One sentence, with its source. */
    const char* Description() const
    {
        return m_description;
    }

  protected:
    Component(const char* name, const char* description)
        : m_name(name),
          m_description(description)
    {
    }

  private:
    const char* m_name;
    const char* m_description;
};

/** Calls @p function(info, parameter) for every parameter of @p component. */
template <typename F>
void
ForEachParameter(Parameterized& component, const F& function)
{
    struct Caller : ParameterVisitor
    {
        explicit Caller(const F& called)
            : function(called)
        {
        }

        void Visit(const ParameterInfo& info, const Parameter& parameter) override
        {
            function(info, parameter);
        }

        const F& function;
    };

    Caller caller(function);
    component.VisitParameters(caller);
}

/** The keys of all parameters of @p component, in the order of its list. */
std::vector<std::string> KeysOf(Parameterized& component);

/**
 * The keys of the parameters whose values differ between @p component and @p other, which must be
 * of the same class.
 * @throws std::invalid_argument for a component with a link, dimensions or a graph, which cannot be
 *         compared.
 */
std::vector<std::string> ChangedKeys(Parameterized& component, Parameterized& other);

/**
 * Sets those parameters of @p component that equal the ones of @p before to the values of @p after.
 * All three must be of one class.
 * @throws std::invalid_argument as ChangedKeys does.
 */
void ReplaceUnchanged(Parameterized& component, Parameterized& before, Parameterized& after);

/**
 * Checks that every value of @p component is in its range.
 * @param field prefix of the keys in the message: "fabric".
 * @throws std::invalid_argument such as "fabric.levels: 9, expected 2 to 8".
 */
void CheckRanges(Parameterized& component, const std::string& field);

} // namespace weir

#endif // WEIR_FABRIC_PARAMETERS_PARAMETER_VISITOR_H
