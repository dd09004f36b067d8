// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/msccl/msccl-element.h"

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/xml-attributes.h"

#include <algorithm>
#include <charconv>

namespace weir
{

MscclSource::MscclSource(const std::string& text, std::string file)
    : m_file(std::move(file)),
      m_lines{0}
{
    for (std::size_t i = 0; i < text.size(); ++i)
    {
        if (text[i] == '\n')
        {
            m_lines.push_back(static_cast<std::ptrdiff_t>(i) + 1);
        }
    }
}

uint32_t
MscclSource::LineAt(std::ptrdiff_t offset) const
{
    const auto next = std::upper_bound(m_lines.begin(), m_lines.end(), offset);
    return static_cast<uint32_t>(std::max<std::ptrdiff_t>(next - m_lines.begin(), 1));
}

void
MscclSource::Fail(uint32_t line, const std::string& what) const
{
    throw InputError(m_file + ":" + std::to_string(line) + ": " + what);
}

MscclElement::MscclElement(pugi::xml_node node, const MscclSource& source)
    : m_node(node),
      m_source(&source)
{
    if (const std::string repeated = RepeatedAttribute(node); !repeated.empty())
    {
        source.Fail(Line(),
                    std::string("<") + node.name() + "> " + repeated +
                        ": found the attribute twice, expected it once");
    }
}

uint32_t
MscclElement::Line() const
{
    return m_source->LineAt(m_node.offset_debug());
}

std::vector<MscclElement>
MscclElement::Children(const char* name) const
{
    std::vector<MscclElement> children;
    for (const pugi::xml_node node : m_node.children())
    {
        if (node.type() != pugi::node_element)
        {
            continue;
        }
        const MscclElement child(node, *m_source);
        if (std::string(node.name()) != name)
        {
            m_source->Fail(child.Line(),
                           "found <" + std::string(node.name()) + "> in <" + m_node.name() +
                               ">, expected <" + name + ">");
        }
        children.push_back(child);
    }
    return children;
}

std::string
MscclElement::Text(const char* attribute) const
{
    const pugi::xml_attribute found = m_node.attribute(attribute);
    if (!found)
    {
        m_source->Fail(Line(),
                       "found <" + std::string(m_node.name()) + "> without '" + attribute +
                           "', expected it");
    }
    return found.value();
}

int64_t
MscclElement::Integer(const char* attribute, int64_t least, int64_t most) const
{
    const std::string text = Text(attribute);
    int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || rest != end || value < least || value > most)
    {
        Fail(attribute,
             "'" + text + "'",
             "an integer from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
}

int64_t
MscclElement::IntegerOr(const char* attribute, int64_t least, int64_t most, int64_t otherwise) const
{
    return m_node.attribute(attribute) ? Integer(attribute, least, most) : otherwise;
}

void
MscclElement::Fail(const char* attribute,
                   const std::string& found,
                   const std::string& expected) const
{
    m_source->Fail(Line(),
                   "<" + std::string(m_node.name()) + "> " + attribute + ": found " + found +
                       ", expected " + expected);
}

} // namespace weir
