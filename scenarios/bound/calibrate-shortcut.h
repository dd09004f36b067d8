// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_CALIBRATE_SHORTCUT_H
#define WEIR_SCENARIOS_BOUND_CALIBRATE_SHORTCUT_H

#include "collectives/fidelity.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/sampled-fabric.h"
#include "scenarios/catalog.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace weir
{

/** What a calibration covers. */
enum class CalibratedThing : uint8_t
{
    Collectives, //!< calls on an idle fabric or of concurrent jobs, against `flow`
    Steps,       //!< whole training steps, against `flow`
    Packets      //!< as Collectives, against `packet` with the defaults of its network
};

constexpr CalibratedThing LAST_CALIBRATED_THING = CalibratedThing::Packets;

/** "collectives", "steps", "packets": also the names of the shipped calibrations. */
const char* ToString(CalibratedThing thing);

/** A sample to run. */
struct SampleSpec
{
    CalibratedThing thing{CalibratedThing::Collectives};
    Population population{Population::Calibrated};
    uint64_t seed{1};
    std::size_t scenarios{1};
    uint32_t threads{1}; //!< at least 1; no effect on results
};

/**
 * Runs the sample. Every scenario runs in the reference fidelity and in each fidelity that is
 * compared with it (EstimatesOf), which gives two or three cases; steps with traffic or events on
 * links are not run by `analytical`. In samples of collectives and packets every third scenario has
 * jobs whose calls may be concurrent, unless the population is shifted.
 * @param progress called periodically, from this thread, with the number of finished scenarios
 */
std::vector<CalibrationCase> RunSample(const SampleSpec& spec,
                                       const Catalog& catalog,
                                       const std::function<void(std::size_t)>& progress);

/** Runs the sample and calibrates bounds with it. */
Calibration CalibrateShortcut(const SampleSpec& spec,
                              const Catalog& catalog,
                              const std::function<void(std::size_t)>& progress);

/**
 * Reads the calibration that Weir ships for @p thing from the catalog.
 * @throws InputError when it cannot be read, or its features differ from those of current
 *         estimates.
 */
Calibration ShippedCalibration(CalibratedThing thing, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CALIBRATE_SHORTCUT_H
