// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/calibrate-shortcut.h"

#include "fabric/enum-names.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/call-position.h"
#include "scenarios/bound/samples.h"
#include "scenarios/bound/scenario-position.h"
#include "scenarios/versions.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <iterator>

namespace weir
{

namespace
{

std::vector<std::string>
FeatureNames(CalibratedThing thing)
{
    return thing == CalibratedThing::Steps ? StepFeatureNames() : CallPositions::FeatureNames();
}

std::vector<CalibrationCase>
CasesOf(const SampledTimes& times)
{
    return Mapped<CalibrationCase>(times.estimates, [&](const SampledEstimate& estimate) {
        return CalibrationCase{estimate.position, std::log(times.reference / estimate.time)};
    });
}

/** The fidelity whose times estimates are compared with. */
Fidelity
ReferenceOf(CalibratedThing thing)
{
    return thing == CalibratedThing::Packets ? Fidelity::Packet : Fidelity::Flow;
}

std::vector<CalibrationCase>
RunScenarioOf(const SampleSpec& spec, std::size_t index, const Catalog& catalog)
{
    const Fidelity reference = ReferenceOf(spec.thing);
    if (spec.thing == CalibratedThing::Steps)
    {
        return CasesOf(SampleStep(spec.seed, index, spec.population, catalog));
    }
    if (spec.population == Population::Calibrated && index % SCENARIOS_PER_JOBS == 0)
    {
        return CasesOf(SampleJobs(spec.seed, index, reference, catalog));
    }
    return CasesOf(SampleCall(spec.seed, index, spec.population, reference, catalog));
}

/**
 * Makes workers stop after their current scenario when this scope is left, also by an exception.
 */
struct LastBegun
{
    std::atomic<std::size_t>& next;
    std::size_t count;

    ~LastBegun()
    {
        next = count;
    }
};

} // namespace

const char*
ToString(CalibratedThing thing)
{
    static constexpr EnumName<CalibratedThing> NAMES[]{
        {CalibratedThing::Collectives, "collectives"},
        {CalibratedThing::Steps, "steps"},
        {CalibratedThing::Packets, "packets"}};
    return NameIn(NAMES, thing);
}

std::vector<CalibrationCase>
RunSample(const SampleSpec& spec,
          const Catalog& catalog,
          const std::function<void(std::size_t)>& progress)
{
    std::vector<std::vector<CalibrationCase>> byScenario(spec.scenarios);
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < byScenario.size(); i = next++)
        {
            byScenario[i] = RunScenarioOf(spec, i, catalog);
            done++;
        }
    };
    std::vector<std::future<void>> workers;
    for (uint32_t i = 0; i < spec.threads; i++)
    {
        workers.push_back(std::async(std::launch::async, work));
    }
    const LastBegun end{next, byScenario.size()};
    for (auto& worker : workers)
    {
        while (worker.wait_for(std::chrono::milliseconds(200)) != std::future_status::ready)
        {
            progress(done);
        }
        worker.get();
    }
    progress(done);
    std::vector<CalibrationCase> cases;
    for (auto& scenario : byScenario)
    {
        std::move(scenario.begin(), scenario.end(), std::back_inserter(cases));
    }
    return cases;
}

Calibration
CalibrateShortcut(const SampleSpec& spec,
                  const Catalog& catalog,
                  const std::function<void(std::size_t)>& progress)
{
    CalibrationOrigin origin;
    origin.title = std::string("Error bounds of the shortcuts: ") + ToString(spec.thing);
    origin.command = std::string("weir calibrate --shortcut ") + ToString(spec.thing) + " --seed " +
                     std::to_string(spec.seed) + " --scenarios " + std::to_string(spec.scenarios);
    origin.version = WeirVersion();
    origin.reference = ReferenceOf(spec.thing);
    origin.seed = spec.seed;
    origin.scenarios = spec.scenarios;
    return Calibration::Of(
        std::move(origin), FeatureNames(spec.thing), RunSample(spec, catalog, progress));
}

Calibration
ShippedCalibration(CalibratedThing thing, const Catalog& catalog)
{
    Calibration calibration = ReadCalibration(ToString(thing), catalog);
    if (calibration.Features() != FeatureNames(thing))
    {
        throw InputError(catalog.Find(CatalogKind::Calibrations, ToString(thing)) +
                         ": features: found " + JoinNames(calibration.Features()) + ", expected " +
                         JoinNames(FeatureNames(thing)) +
                         " (regenerate it with scripts/calibrate-shortcut)");
    }
    return calibration;
}

} // namespace weir
