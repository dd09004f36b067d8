// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/plan-refusal.h"

#include <stdexcept>

namespace weir
{

void
RefusePlan(const std::string& field, const std::string& found, const std::string& expected)
{
    throw std::invalid_argument(field + ": found " + found + ", expected " + expected);
}

void
RefusePlan(const std::string& field, uint64_t found, const std::string& expected)
{
    RefusePlan(field, std::to_string(found), expected);
}

void
RequireDivides(const char* field, uint64_t divisor, const std::string& what, uint64_t value)
{
    if (divisor == 0 || value % divisor != 0)
    {
        RefusePlan(field, divisor, "a divisor of " + what + " = " + std::to_string(value));
    }
}

} // namespace weir
