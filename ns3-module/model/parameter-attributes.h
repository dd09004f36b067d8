// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_PARAMETER_ATTRIBUTES_H
#define WEIR_MODEL_PARAMETER_ATTRIBUTES_H

#include "fabric/parameters/parameter-visitor.h"
#include "ns3/object.h"
#include "ns3/type-id.h"

#include <vector>

namespace ns3
{

/**
 * An object whose attributes are the parameters of plain components: an attribute is a parameter's
 * key in PascalCase, with its help, range and default (a link's parameter is three attributes, as
 * AddLinkAttributes). Setting one sets that parameter in every component that has it; until then
 * each keeps its own default. A time that may be infinite is so at Time::Max().
 */
class ParameterizedObject : public Object
{
  public:
    /**
     * The components.
     * @return them, the one whose values attributes show first
     */
    virtual std::vector<weir::Parameterized*> GetComponents() = 0;

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
 * Adds an attribute for every parameter of some components, those of one key once. Networks from
 * files and selections from them have none.
 * @param tid of a ParameterizedObject
 * @param components with the default values
 * @return the type ID
 */
TypeId AddParameterAttributes(TypeId tid, const std::vector<weir::Parameterized*>& components);

} // namespace ns3

#endif // WEIR_MODEL_PARAMETER_ATTRIBUTES_H
