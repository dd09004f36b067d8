// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_PARAMETER_ATTRIBUTES_H
#define WEIR_MODEL_PARAMETER_ATTRIBUTES_H

#include "fabric/parameters/parameter-visitor.h"
#include "ns3/object.h"
#include "ns3/type-id.h"

#include <string>
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
 * key in PascalCase, with its help, range and default (a link's parameter is three attributes, as
 * AddLinkAttributes). Setting one sets that parameter in every component that has it.
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

} // namespace ns3

#endif // WEIR_MODEL_PARAMETER_ATTRIBUTES_H
