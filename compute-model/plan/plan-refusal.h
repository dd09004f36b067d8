// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_PLAN_REFUSAL_H
#define WEIR_COMPUTE_MODEL_PLAN_PLAN_REFUSAL_H

#include <cstdint>
#include <string>

namespace weir
{

/** @throws std::invalid_argument always: "FIELD: found FOUND, expected EXPECTED". */
[[noreturn]] void RefusePlan(const std::string& field,
                             const std::string& found,
                             const std::string& expected);

/** Similarly, with a number. */
[[noreturn]] void RefusePlan(const std::string& field, uint64_t found, const std::string& expected);

/** @throws std::invalid_argument unless the field's @p divisor divides @p value, which is @p what.
 */
void RequireDivides(const char* field, uint64_t divisor, const std::string& what, uint64_t value);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_PLAN_REFUSAL_H
