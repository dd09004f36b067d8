// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_CORRECTION_DESCRIPTION_H
#define WEIR_MODEL_CORRECTION_DESCRIPTION_H

#include "parameter-attributes.h"

#include "fabric/transport/corrected/correction-spec.h"

#include <vector>

namespace ns3
{

/**
 * What corrects a fluid as attributes: every parameter of weir::CorrectionSpec. By default nothing
 * does.
 */
class CorrectionDescription : public ParameterizedObject
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * Takes all values from plain ones, such as a file of the catalogue has; attributes set later
     * change single ones.
     * @param spec the values
     */
    void SetSpec(const weir::CorrectionSpec& spec);

    /**
     * The values.
     * @return the values
     */
    weir::CorrectionSpec GetSpec() const;

    std::vector<ParameterComponent> GetComponents() override;

  private:
    weir::CorrectionSpec m_spec; //!< the values
};

} // namespace ns3

#endif // WEIR_MODEL_CORRECTION_DESCRIPTION_H
