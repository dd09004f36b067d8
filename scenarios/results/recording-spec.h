// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RECORDING_SPEC_H
#define WEIR_SCENARIOS_RESULTS_RECORDING_SPEC_H

#include "collectives/fidelity.h"
#include "scenarios/scenario.h"

#include <cstdint>
#include <functional>
#include <string>

namespace weir
{

/** What to record of a run, and the metadata that its files store. */
struct RecordingSpec
{
    OutputSpec output;
    std::string timelinePath{}; //!< empty unless the output requests a timeline
    std::string title{};
    Fidelity fidelity{Fidelity::Stream};
    uint64_t seed{0};
    std::string ncclVersion{};
    std::function<std::string()> provenance; //!< all that the run depends on, as YAML
};

/** The recording specification of @p scenario, which must outlive it. */
RecordingSpec RecordingOf(const Scenario& scenario);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RECORDING_SPEC_H
