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

/** What a calibration is of. */
enum class CalibratedThing : uint8_t
{
    Collectives, //!< calls on an idle fabric, and of jobs that share one, against `flow`
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
    uint32_t threads{1}; //!< at least 1; they change nothing but the time it takes
};

/**
 * Runs the sample: every scenario by the reference and by what is compared with it (EstimatesOf),
 * so that it gives two or three cases; a step with traffic or events on links not by `analytical`.
 * Of collectives and packets every third scenario is of jobs whose calls may meet, unless the
 * population is shifted.
 * @param progress is called now and then, from this thread, with the scenarios that are done
 */
std::vector<CalibrationCase> RunSample(const SampleSpec& spec,
                                       const Catalog& catalog,
                                       const std::function<void(std::size_t)>& progress);

/** Runs the sample and calibrates with it. */
Calibration CalibrateShortcut(const SampleSpec& spec,
                              const Catalog& catalog,
                              const std::function<void(std::size_t)>& progress);

/**
 * The calibration that comes with Weir, by its name in the catalogue.
 * @throws InputError when it cannot be read, or has other features than estimates have now.
 */
Calibration ShippedCalibration(CalibratedThing thing, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CALIBRATE_SHORTCUT_H
