// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_SCENARIOS_REFUSAL_H
#define WEIR_TESTS_SCENARIOS_REFUSAL_H

#include "scenarios/yaml/input-error.h"

#include <string>

namespace weir
{

/** Message of the InputError that @p action throws; empty if it throws none. */
template <typename Action>
std::string
RefusalOf(const Action& action)
{
    try
    {
        action();
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "";
}

} // namespace weir

#endif // WEIR_TESTS_SCENARIOS_REFUSAL_H
