// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/calibrate-shortcut.h"
#include "scenarios/bound/calibration-file.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/command/output-option.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/results/output-file.h"
#include "scenarios/simulation/progress.h"
#include "scenarios/yaml/input-error.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace weir
{

namespace
{

struct CalibrateOptions
{
    std::string shortcut;
    uint64_t seed{1};
    std::size_t scenarios{4000};
    uint32_t jobs{1};
    std::string output;
};

CalibratedThing
ReadThing(const CalibrateOptions& options)
{
    return YamlNode::ParseArgument(options.shortcut, "--shortcut")
        .AsEnum(ChoicesUpTo(LAST_CALIBRATED_THING));
}

ExitCode
Calibrate(const CalibrateOptions& options)
{
    SampleSpec spec;
    spec.thing = ReadThing(options);
    spec.seed = options.seed;
    spec.scenarios = options.scenarios;
    spec.threads = options.jobs;
    OutputFile file(options.output, "--output", TextFormat());
    RemoveIfInterrupted(file.TemporaryPath());
    ProgressLine line(std::cerr, isatty(STDERR_FILENO) == 1, "calibration");
    const Calibration calibration = CalibrateShortcut(spec, Catalog(), [&](std::size_t done) {
        line.Update(done, spec.scenarios, Time());
        ThrowIfInterrupted();
    });
    file.Save(ToYaml(calibration));
    std::cout << spec.scenarios << " scenarios, " << calibration.Regimes().size() << " regimes\n";
    return ExitCode::Done;
}

} // namespace

Command
AddCalibrateCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("calibrate",
                                            "Make the error bounds of the shortcuts from a sample "
                                            "of scenarios");
    auto options = std::make_shared<CalibrateOptions>();
    verb->add_option("--shortcut",
                     options->shortcut,
                     "Run a seeded sample of these by analytical, stream and flow: collectives or "
                     "steps")
        ->required();
    verb->add_option("--seed", options->seed, "Of the sample")->capture_default_str();
    verb->add_option("--scenarios", options->scenarios, "Of the sample")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    verb->add_option("-j,--jobs", options->jobs, "Scenarios at the same time")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    AddOutputOption(*verb, "-o,--output", options->output, "Write the calibration to this file");
    verb->get_option("--output")->required();
    verb->footer(
        "Examples:\n"
        "  weir calibrate --shortcut collectives -j 2 -o collectives.yaml\n"
        "The same seed and number of scenarios make the same file.\n"
        "scripts/calibrate-shortcut remakes the calibrations that Weir ships.");
    return {verb, [options] { return Calibrate(*options); }};
}

} // namespace weir
