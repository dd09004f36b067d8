// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_COUPLING_DESCRIPTION_H
#define WEIR_MODEL_COUPLING_DESCRIPTION_H

#include "parameter-attributes.h"

#include "fabric/transport/hybrid/coupling-spec.h"

namespace ns3
{

/** How packets and a fluid share links as attributes: every parameter of weir::CouplingSpec. */
class CouplingDescription : public SpecObject<weir::CouplingSpec>
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
};

} // namespace ns3

#endif // WEIR_MODEL_COUPLING_DESCRIPTION_H
