// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_PARAMETER_ATTRIBUTES_H
#define WEIR_MODEL_PARAMETER_ATTRIBUTES_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/parameters/registry.h"
#include "ns3/object.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3
{

/** A plain component of an object. */
struct ParameterComponent
{
    std::string kind;          //!< its name among those of its sort, "swift"; empty: it is alone
    weir::Parameterized* list; //!< its parameters
};

/**
 * An object whose attributes are the parameters of plain components: an attribute is a parameter's
 * key in PascalCase, with its help, range and default (a link's parameter is three: its rate, its
 * efficiency and its latency). Setting one sets that parameter in every component that has it.
 *
 * Where a key means values of different types in different kinds, each kind has an attribute of its
 * own, named by the kind: SwiftTarget is a time, NsccTarget a number. Where only the defaults
 * differ, the attribute's is "own": each kind's own, as its help lists them.
 *
 * A time that may be infinite is so at Time::Max(). Where the least time of a parameter is below
 * the simulator's resolution, 0 is that least time. An attribute that has its default when an
 * object is created leaves what a preset, which comes before it, has chosen.
 */
class ParameterizedObject : public Object
{
  public:
    /**
     * The components.
     * @return them, the one whose values attributes show first
     */
    virtual std::vector<ParameterComponent> GetComponents() = 0;

    /**
     * Whether the attributes have had their initial values.
     * @return true when the object can be used
     */
    bool IsConstructed() const;

  protected:
    void NotifyConstructionCompleted() override;

  private:
    bool m_isConstructed{false}; //!< attributes have had their initial values
};

/**
 * Adds attributes for all parameters of some components. Networks from files and selections from
 * them have none.
 * @param tid of a ParameterizedObject
 * @param components with the default values
 * @return the type ID
 */
TypeId AddParameterAttributes(TypeId tid, const std::vector<ParameterComponent>& components);

/**
 * The type of an object that has no attributes but parameters.
 * @tparam T a ParameterizedObject
 * @param name of the type
 * @return the type ID
 */
template <typename T>
TypeId
MakeParameterizedType(const std::string& name)
{
    T defaults;
    return AddParameterAttributes(
        TypeId(name).SetParent<Object>().SetGroupName("Weir").AddConstructor<T>(),
        defaults.GetComponents());
}

/**
 * An object that is plain values with parameters.
 * @tparam S the values: parameters themselves, parts that have them, or both
 */
template <typename S>
class SpecObject : public ParameterizedObject
{
  public:
    /**
     * Takes all values from plain ones, such as a file of the catalogue has; attributes set later
     * change single ones.
     * @param spec the values
     */
    void SetSpec(const S& spec)
    {
        m_spec = spec;
    }

    /**
     * The values.
     * @return the values
     */
    S GetSpec() const
    {
        return m_spec;
    }

    std::vector<ParameterComponent> GetComponents() override
    {
        std::vector<ParameterComponent> components;
        if constexpr (std::is_base_of_v<weir::Parameterized, S>)
        {
            components.push_back({"", &m_spec});
        }
        AddParts(components, m_spec);
        return components;
    }

  protected:
    S m_spec; //!< the values

  private:
    /**
     * Adds the parts of the values, where they have some.
     * @param components gets them
     * @param spec the values
     */
    template <typename P>
    static auto AddParts(std::vector<ParameterComponent>& components, P& spec)
        -> decltype(spec.Parts(), void())
    {
        for (const auto& [key, part] : spec.Parts())
        {
            components.push_back({"", part});
        }
    }

    /** The same where they have none. */
    static void AddParts(std::vector<ParameterComponent>&, const weir::Parameterized&)
    {
    }
};

/**
 * One component of some kinds, and what the others would be: the choice is an attribute itself.
 * @tparam T what the kinds have in common
 */
template <typename T>
class ComponentChoice : public weir::Parameterized
{
  public:
    /**
     * @param key of the choice
     * @param help of the choice; the kinds follow
     * @param registry the kinds
     * @param initial the one that is meant at first
     */
    ComponentChoice(const char* key,
                    const std::string& help,
                    const weir::Registry<T>& registry,
                    const weir::Polymorphic<T>& initial)
        : m_key(key),
          m_help(help),
          m_kinds(registry.begin(), registry.end()),
          m_names(registry.Names())
    {
        for (const std::string& name : m_names)
        {
            m_help += (name == m_names.front() ? " " : ", ") + name;
        }
        m_help += ".";
        Set(initial);
    }

    /**
     * Means another component from now on.
     * @param component that one, of a known kind or another
     */
    void Set(const weir::Polymorphic<T>& component)
    {
        const auto found = std::find(m_names.begin(), m_names.end(), component->Name());
        m_chosen = static_cast<std::size_t>(found - m_names.begin());
        if (found == m_names.end())
        {
            m_kinds.push_back(component);
            m_names.push_back(component->Name());
        }
        m_kinds[m_chosen] = component;
    }

    /**
     * The component that is meant.
     * @return it
     */
    const weir::Polymorphic<T>& Get() const
    {
        return m_kinds[m_chosen];
    }

    /**
     * Components whose parameters are attributes: the choice, the chosen one and all others.
     * @param components gets them
     */
    void AddTo(std::vector<ParameterComponent>& components)
    {
        components.push_back({"", this});
        const std::size_t first = components.size();
        for (auto& kind : m_kinds)
        {
            components.push_back({kind->Name(), &*kind});
        }
        std::swap(components[first], components[first + m_chosen]);
    }

    void VisitParameters(weir::ParameterVisitor& visitor) override
    {
        visitor.Choice({m_key, m_help.c_str()}, m_chosen, m_names);
    }

  private:
    const char* m_key;                         //!< of the choice
    std::string m_help;                        //!< of the choice
    std::vector<weir::Polymorphic<T>> m_kinds; //!< of every kind one
    std::vector<std::string> m_names;          //!< of the kinds
    std::size_t m_chosen{0};                   //!< the one that is meant
};

} // namespace ns3

#endif // WEIR_MODEL_PARAMETER_ATTRIBUTES_H
