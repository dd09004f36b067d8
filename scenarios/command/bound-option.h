// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_BOUND_OPTION_H
#define WEIR_SCENARIOS_COMMAND_BOUND_OPTION_H

#include "collectives/fidelity.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/catalog.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace weir
{

/** Options for the error bound of times. */
struct BoundOptions
{
    double coverage{0.9};
    std::string reference;                      //!< empty: flow
    const CLI::Option* coverageOption{nullptr}; //!< null: the verb has no such option
};

/** Adds --coverage and --reference to @p verb. */
void AddBoundOptions(CLI::App& verb, BoundOptions& options);

/**
 * The calibration for times of @p fidelity; nothing where these have no bound.
 * @throws InputError when the requested reference is not one that they are compared with, or
 *         --coverage has no effect.
 */
std::optional<Calibration> CalibrationFor(const BoundOptions& options,
                                          bool isOfSteps,
                                          Fidelity fidelity,
                                          const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_BOUND_OPTION_H
