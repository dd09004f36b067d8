// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_MSCCL_MSCCL_ELEMENT_H
#define WEIR_SCENARIOS_MSCCL_MSCCL_ELEMENT_H

#include <cstdint>
#include <functional>
#include <pugixml.hpp>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

/** The text of an XML file, for the line of what is found in it. */
class MscclSource
{
  public:
    MscclSource(const std::string& text, std::string file);

    /** The line of a character, from 1 on. O(log lines). */
    uint32_t LineAt(std::ptrdiff_t offset) const;

    /** Throws an InputError "FILE:LINE: what". */
    [[noreturn]] void Fail(uint32_t line, const std::string& what) const;

  private:
    std::string m_file;
    std::vector<std::ptrdiff_t> m_lines; //!< where each begins
};

/** An element whose attributes are read with errors that say where. All throw an InputError. */
class MscclElement
{
  public:
    MscclElement(pugi::xml_node node, const MscclSource& source);

    uint32_t Line() const;

    /** The child elements, which must all have this name. */
    std::vector<MscclElement> Children(const char* name) const;

    std::string Text(const char* attribute) const;

    /** An integer from @p least to @p most. */
    int64_t Integer(const char* attribute, int64_t least, int64_t most) const;

    /** Similarly, or @p otherwise where there is no such attribute. */
    int64_t IntegerOr(const char* attribute, int64_t least, int64_t most, int64_t otherwise) const;

    /** What an attribute's text stands for in a list of choices. */
    template <typename Value>
    Value Choice(const char* attribute,
                 const std::vector<std::pair<const char*, Value>>& choices) const
    {
        const std::string text = Text(attribute);
        std::string names;
        for (const auto& [name, value] : choices)
        {
            if (text == name)
            {
                return value;
            }
            names += (names.empty() ? "" : ", ") + std::string(name);
        }
        Fail(attribute, "'" + text + "'", "one of: " + names);
    }

    /** Throws "ATTRIBUTE: found FOUND, expected EXPECTED". */
    [[noreturn]] void Fail(const char* attribute,
                           const std::string& found,
                           const std::string& expected) const;

  private:
    pugi::xml_node m_node;
    const MscclSource* m_source;
};

} // namespace weir

#endif // WEIR_SCENARIOS_MSCCL_MSCCL_ELEMENT_H
