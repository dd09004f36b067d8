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

/** A component of an object whose parameters are attributes. */
struct ParameterComponent
{
    std::string kind;          //!< its kind, such as "swift"; empty: there are no kinds
    weir::Parameterized* list; //!< its parameters
};

/**
 * An object whose attributes are the parameters of its components. An attribute has the key of the
 * parameter in PascalCase, and its help, range and default. A link parameter has three attributes:
 * rate, efficiency and latency. Setting an attribute sets the parameter in every component that has
 * it.
 *
 * If a key has values of different types in different kinds, each kind has its own attribute,
 * prefixed by the kind: SwiftTarget is a time, NsccTarget a number. If only the defaults differ,
 * the default of the attribute is "own", which means the default of each kind; its help lists them.
 *
 * An optional count is a number in its range or the text "absent".
 *
 * Time::Max() means an infinite time. If the minimum of a time parameter is below the simulator's
 * resolution, 0 means that minimum. An attribute that has its default value when an object is
 * created does not override a preset, which comes before it.
 */
class ParameterizedObject : public Object
{
  public:
    /**
     * The components.
     * @return the components; attributes show the values of the first one that has the parameter
     */
    virtual std::vector<ParameterComponent> GetComponents() = 0;

    /**
     * Whether the initial values of the attributes have been set.
     * @return true if the object can be used
     */
    bool IsConstructed() const
    {
        return m_isConstructed;
    }

  protected:
    void NotifyConstructionCompleted() override;

  private:
    bool m_isConstructed{false}; //!< the initial values have been set
};

/**
 * Adds attributes for all parameters of some components, except graphs from files and selections of
 * their names.
 * @param tid of a ParameterizedObject
 * @param components with the default values
 */
TypeId AddParameterAttributes(TypeId tid, const std::vector<ParameterComponent>& components);

/**
 * The type ID of an object whose attributes are all parameters.
 * @tparam T a ParameterizedObject
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
 * An object that holds plain values with parameters.
 * @tparam S the values: Parameterized itself, with Parameterized parts, or both
 */
template <typename S>
class SpecObject : public ParameterizedObject
{
  public:
    /**
     * Sets all values, e.g. from a file of the catalog; attributes that are set later change
     * single values.
     */
    void SetSpec(const S& spec)
    {
        m_spec = spec;
    }

    /** The values. */
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
     * Adds the parts of the values, if there are any.
     * @param components receives them
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

    /** The same for values without parts. */
    static void AddParts(std::vector<ParameterComponent>&, const weir::Parameterized&)
    {
    }
};

/**
 * A choice of one component among several kinds. The choice is an attribute itself, and the
 * components that are not chosen keep their parameters.
 * @tparam T the base class of the kinds
 */
template <typename T>
class ComponentChoice : public weir::Parameterized
{
  public:
    /**
     * @param help of the choice; the names of the kinds are appended
     * @param registry the kinds
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
     * Chooses another component.
     * @param component of a known kind or a new one
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

    /** The chosen component. */
    const weir::Polymorphic<T>& Get() const
    {
        return m_kinds[m_chosen];
    }

    /**
     * Adds the components whose parameters are attributes: the choice, the chosen one and all
     * others.
     * @param components receives them
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
    std::vector<weir::Polymorphic<T>> m_kinds; //!< one component per kind
    std::vector<std::string> m_names;          //!< of the kinds
    std::size_t m_chosen{0};                   //!< index of the chosen one
};

} // namespace ns3

#endif // WEIR_MODEL_PARAMETER_ATTRIBUTES_H
