// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_INPUT_ERROR_H
#define WEIR_SCENARIOS_YAML_INPUT_ERROR_H

#include <stdexcept>

namespace weir
{

/**
 * Wrong input: what() is the one line the user sees, "file:line:column: key: found ..., expected
 * ...". Mains catch it once, print it and exit with 2.
 */
class InputError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_INPUT_ERROR_H
