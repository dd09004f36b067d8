// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_SCENARIOS_SYSTEM_TEXT_H
#define WEIR_TESTS_SCENARIOS_SYSTEM_TEXT_H

#include "refusal.h"
#include "scenarios/readers/read-system.h"

#include <string>

namespace weir
{

/** The system described by @p text in YAML, as the file "sys.yaml". */
inline SystemDescription
SystemOf(const std::string& text)
{
    return ReadSystem(YamlNode::Parse(text, "sys.yaml"), Catalog());
}

/** Refusal of that system. */
inline std::string
SystemRefusal(const std::string& text)
{
    return RefusalOf([&] { SystemOf(text); });
}

} // namespace weir

#endif // WEIR_TESTS_SCENARIOS_SYSTEM_TEXT_H
