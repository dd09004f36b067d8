// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/bound-option.h"

#include "scenarios/bound/calibrate-shortcut.h"
#include "scenarios/yaml/input-error.h"

namespace weir
{

void
AddBoundOptions(CLI::App& verb, BoundOptions& options)
{
    options.coverageOption =
        verb.add_option("--coverage",
                        options.coverage,
                        "Coverage of the error bound against flow of analytical and stream times, "
                        "also used by the choice of auto: 0.8, 0.9, 0.95 or 0.99")
            ->check(CLI::IsMember({0.8, 0.9, 0.95, 0.99}))
            ->check([](const std::string& text) { // CLI11 would accept it
                return text.empty() ? "found '', expected 0.8, 0.9, 0.95 or 0.99" : std::string();
            })
            ->capture_default_str();
    verb.add_option("--reference",
                    options.reference,
                    "Reference of the error bound: flow, or packet with its default settings "
                    "(collectives only; flow then has a bound, too; default: flow)");
}

std::optional<Calibration>
CalibrationFor(const BoundOptions& options,
               bool isOfSteps,
               Fidelity fidelity,
               const Catalog& catalog)
{
    const bool isOfPackets = options.reference == ToString(Fidelity::Packet);
    if (!options.reference.empty() && !isOfPackets && options.reference != ToString(Fidelity::Flow))
    {
        throw InputError("--reference: found '" + options.reference + "', expected flow or packet");
    }
    const Fidelity reference = isOfPackets ? Fidelity::Packet : Fidelity::Flow;
    if (isOfPackets && isOfSteps)
    {
        throw InputError(
            "--reference: found 'packet' with training jobs, expected flow: only "
            "collectives are compared with packets");
    }
    const bool isAuto = fidelity == Fidelity::Auto && !isOfPackets;
    if (!isAuto && !IsComparedWith(reference, fidelity))
    {
        if (!options.reference.empty())
        {
            throw InputError("--reference: found '" + options.reference + "' with fidelity " +
                             ToString(fidelity) + ", expected analytical" +
                             (isOfPackets ? ", stream or flow" : ", stream or auto") + " with it");
        }
        const bool isCoverageGiven =
            options.coverageOption != nullptr && options.coverageOption->count() > 0;
        if (isCoverageGiven && !isOfSteps) // steps have a measured bound in every fidelity
        {
            throw InputError(std::string("--coverage: found it with fidelity ") +
                             ToString(fidelity) +
                             ", expected analytical, stream or auto with it, or flow with "
                             "--reference packet");
        }
        return std::nullopt;
    }
    return ShippedCalibration(isOfPackets ? CalibratedThing::Packets
                              : isOfSteps ? CalibratedThing::Steps
                                          : CalibratedThing::Collectives,
                              catalog);
}

} // namespace weir
