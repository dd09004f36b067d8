// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_MACHINE_MACHINE_SYSTEM_H
#define WEIR_SCENARIOS_MACHINE_MACHINE_SYSTEM_H

#include "scenarios/machine/calibrate-machine.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <utility>
#include <vector>

namespace weir
{

/** A setting of a system: {"node.nic.measured", "0.93"}. */
using SystemSetting = std::pair<std::string, std::string>;

/** The system @p base overridden by @p settings, as input of ReadSystem. */
YamlNode SystemWith(const std::string& base, const std::vector<SystemSetting>& settings);

/** Provenance of the description of a calibrated machine. */
struct MachineOrigin
{
    std::string base;    //!< name of the base in the description
    std::string name;    //!< of the machine
    std::string command; //!< that reproduces it
    std::vector<std::string> runs;
};

/** The system description of a calibrated machine: its base, what was fitted, its bounds. */
std::string ToSystemYaml(const MachineCalibration& calibration, const MachineOrigin& origin);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_MACHINE_SYSTEM_H
