// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_CORRECTION_DESCRIPTION_H
#define WEIR_MODEL_CORRECTION_DESCRIPTION_H

#include "parameter-attributes.h"

#include "fabric/transport/corrected/correction-spec.h"

namespace ns3
{

/**
 * What corrects a fluid as attributes: every parameter of weir::CorrectionSpec. By default nothing
 * does.
 */
class CorrectionDescription : public SpecObject<weir::CorrectionSpec>
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
};

} // namespace ns3

#endif // WEIR_MODEL_CORRECTION_DESCRIPTION_H
