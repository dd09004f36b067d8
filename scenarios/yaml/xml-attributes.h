// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_XML_ATTRIBUTES_H
#define WEIR_SCENARIOS_YAML_XML_ATTRIBUTES_H

#include <string>

namespace pugi
{
class xml_node;
} // namespace pugi

namespace weir
{

/**
 * The first attribute that an element has twice, which XML forbids and pugixml lets pass; empty
 * when there is none. O(attributes^2): they are few.
 */
std::string RepeatedAttribute(const pugi::xml_node& element);

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_XML_ATTRIBUTES_H
