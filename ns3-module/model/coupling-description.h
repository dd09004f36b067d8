// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_COUPLING_DESCRIPTION_H
#define WEIR_MODEL_COUPLING_DESCRIPTION_H

#include "parameter-attributes.h"

#include "fabric/transport/hybrid/coupling-spec.h"

#include <vector>

namespace ns3
{

/** How packets and a fluid share links as attributes: every parameter of weir::CouplingSpec. */
class CouplingDescription : public ParameterizedObject
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * The values.
     * @return the values
     */
    weir::CouplingSpec GetSpec() const;

    std::vector<ParameterComponent> GetComponents() override;

  private:
    weir::CouplingSpec m_spec; //!< the values
};

} // namespace ns3

#endif // WEIR_MODEL_COUPLING_DESCRIPTION_H
