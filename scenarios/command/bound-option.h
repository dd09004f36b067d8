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

/** Which error bound a time carries. */
struct BoundOptions
{
    double coverage{0.9};
    std::string reference;                      //!< empty: flow
    const CLI::Option* coverageOption{nullptr}; //!< null: there is none to be given
};

/** Adds --coverage and --reference to @p verb. */
void AddBoundOptions(CLI::App& verb, BoundOptions& options);

/**
 * The calibration of what is run in @p fidelity; nothing where its times have no bound.
 * @throws InputError when a reference is asked for that they are not compared with.
 */
std::optional<Calibration> CalibrationFor(const BoundOptions& options,
                                          bool isOfSteps,
                                          Fidelity fidelity,
                                          const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_BOUND_OPTION_H
