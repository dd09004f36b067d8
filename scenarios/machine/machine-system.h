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

/** @p base with @p settings over it, as ReadSystem takes it. */
YamlNode SystemWith(const std::string& base, const std::vector<SystemSetting>& settings);

/** Where the description of a calibrated machine says that it comes from. */
struct MachineOrigin
{
    std::string base;    //!< as the description is to name it
    std::string name;    //!< of the machine
    std::string command; //!< that remakes it
    std::vector<std::string> runs;
};

/** The system description of a calibrated machine: its base, what was fitted, its bounds. */
std::string ToSystemYaml(const MachineCalibration& calibration, const MachineOrigin& origin);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_MACHINE_SYSTEM_H
