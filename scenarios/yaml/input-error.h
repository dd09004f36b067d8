// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_INPUT_ERROR_H
#define WEIR_SCENARIOS_YAML_INPUT_ERROR_H

#include <stdexcept>

namespace weir
{

/**
 * Invalid input. what() is the single line for the user: "file:line:column: key: found ...,
 * expected ...". The main programs catch it once, print it and exit with 2.
 */
class InputError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_INPUT_ERROR_H
