// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/xml-attributes.h"

#include <pugixml.hpp>

namespace weir
{

std::string
RepeatedAttribute(const pugi::xml_node& element)
{
    for (const pugi::xml_attribute& attribute : element.attributes())
    {
        // The first of a name is what a look-up finds.
        if (element.attribute(attribute.name()) != attribute)
        {
            return attribute.name();
        }
    }
    return "";
}

} // namespace weir
