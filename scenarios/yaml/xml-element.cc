// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/xml-element.h"

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/text-file.h"

#include <algorithm>
#include <cstdlib>
#include <pugixml.hpp>
#include <utility>

namespace weir
{

struct XmlElement::File
{
    std::string path;
    std::string text;
    pugi::xml_document document;

    std::vector<std::ptrdiff_t> lines; //!< offset of the first character of each line

    /** Line number of the character at @p offset, from 1. O(log lines). */
    std::size_t LineAt(std::ptrdiff_t offset) const
    {
        const auto next = std::upper_bound(lines.begin() + 1, lines.end(), offset);
        return static_cast<std::size_t>(next - lines.begin());
    }

    /** Location "path:line:column" of the character at @p offset. */
    std::string Location(std::ptrdiff_t offset) const
    {
        const std::size_t line = LineAt(offset);
        const auto column = std::max<std::ptrdiff_t>(offset - lines[line - 1], 0) + 1;
        return path + ":" + std::to_string(line) + ":" + std::to_string(column);
    }
};

XmlElement::XmlElement(std::shared_ptr<const File> file, const pugi::xml_node& node)
    : m_file(std::move(file)),
      m_node(std::make_shared<pugi::xml_node>(node))
{
    // XML forbids duplicate attributes, but pugixml accepts them. Elements have few attributes.
    for (const pugi::xml_attribute& attribute : node.attributes())
    {
        if (node.attribute(attribute.name()) != attribute) // a lookup finds the first
        {
            Fail(attribute.name(), "found the attribute twice, expected it once");
        }
    }
}

XmlElement
XmlElement::Load(const std::string& path, const char* root)
{
    return Parse(ReadTextFile(path, "an XML file"), path, root);
}

XmlElement
XmlElement::Parse(std::string text, const std::string& path, const char* root)
{
    auto file = std::make_shared<File>();
    file->path = path;
    file->text = std::move(text);
    file->lines = {0};
    for (std::size_t i = 0; i < file->text.size(); i++)
    {
        if (file->text[i] == '\n')
        {
            file->lines.push_back(static_cast<std::ptrdiff_t>(i) + 1);
        }
    }
    const auto result = file->document.load_buffer(file->text.data(), file->text.size());
    if (!result)
    {
        throw InputError(file->Location(result.offset) + ": found '" + result.description() +
                         "', expected XML");
    }
    const pugi::xml_node node = file->document.document_element();
    if (std::string(node.name()) != root)
    {
        throw InputError(file->Location(node.offset_debug() - 1) + ": found the element '" +
                         node.name() + "', expected '" + root + "'");
    }
    return XmlElement(file, node);
}

std::string
XmlElement::Name() const
{
    return m_node->name();
}

uint32_t
XmlElement::Line() const
{
    return static_cast<uint32_t>(m_file->LineAt(m_node->offset_debug()));
}

std::vector<XmlElement>
XmlElement::Children() const
{
    std::vector<XmlElement> children;
    for (const pugi::xml_node& child : m_node->children())
    {
        if (child.type() == pugi::node_element)
        {
            children.push_back(XmlElement(m_file, child));
        }
    }
    return children;
}

std::vector<XmlElement>
XmlElement::Children(const char* name) const
{
    return Mapped<XmlElement>(m_node->children(name), [&](const pugi::xml_node& child) {
        return XmlElement(m_file, child);
    });
}

bool
XmlElement::Has(const char* attribute) const
{
    return !m_node->attribute(attribute).empty();
}

std::string
XmlElement::TextOr(const char* attribute, const std::string& otherwise) const
{
    return Checked(attribute, m_node->attribute(attribute).as_string(otherwise.c_str()));
}

std::string
XmlElement::Text(const char* attribute) const
{
    if (!Has(attribute))
    {
        Fail(attribute, "found no such attribute, expected one");
    }
    return TextOr(attribute);
}

std::string
XmlElement::Content() const
{
    return Checked("", m_node->text().as_string());
}

std::string
XmlElement::Checked(const char* attribute, std::string text) const
{
    const std::size_t wrong = FindNonText(text);
    if (wrong != std::string::npos)
    {
        Fail(attribute, "found " + ByteName(text[wrong]) + ", expected text");
    }
    return text;
}

int64_t
XmlElement::Integer(const char* attribute, int64_t min, int64_t max) const
{
    const std::string text = Text(attribute);
    const auto value = ParseNumber<int64_t>(text);
    if (!value || *value < min || *value > max)
    {
        Fail(attribute,
             "found '" + text + "', expected a whole number from " + std::to_string(min) + " to " +
                 std::to_string(max));
    }
    return *value;
}

int64_t
XmlElement::IntegerOr(const char* attribute, int64_t min, int64_t max, int64_t otherwise) const
{
    return Has(attribute) ? Integer(attribute, min, max) : otherwise;
}

double
XmlElement::Number(const char* attribute, double min, double max) const
{
    const std::string text = Text(attribute);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(value >= min && value <= max))
    {
        const auto plain = [](double number) {
            std::string digits = std::to_string(number);
            digits.erase(digits.find_last_not_of('0') + 1);
            return digits.back() == '.' ? digits.substr(0, digits.size() - 1) : digits;
        };
        Fail(attribute,
             "found '" + text + "', expected a number from " + plain(min) + " to " + plain(max));
    }
    return value;
}

void
XmlElement::Fail(const char* attribute, const std::string& message) const
{
    const bool hasAttribute = attribute != nullptr && *attribute != '\0';
    // offset_debug() is the offset of the name, one past "<"
    throw InputError(m_file->Location(m_node->offset_debug() - 1) + ": " + Name() +
                     (hasAttribute ? std::string(" ") + attribute : "") + ": " + message);
}

} // namespace weir
