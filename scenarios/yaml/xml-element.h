// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_XML_ELEMENT_H
#define WEIR_SCENARIOS_YAML_XML_ELEMENT_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pugi
{
class xml_document;
class xml_node;
} // namespace pugi

namespace weir
{

/**
 * An element of an XML file with its location. Every accessor that throws, throws an InputError
 * "file:line:column: element attribute: found ..., expected ...".
 */
class XmlElement
{
  public:
    /**
     * Reads a file and returns its root element.
     * @throws InputError when the file cannot be read, is not XML, or its root element is not
     *         @p root.
     */
    static XmlElement Load(const std::string& path, const char* root);

    /** The same for @p text, the content of the file @p path. */
    static XmlElement Parse(std::string text, const std::string& path, const char* root);

    std::string Name() const;

    /** Line number, from 1. */
    uint32_t Line() const;

    /** Child elements, in order. */
    std::vector<XmlElement> Children() const;

    /** Child elements with that name, in order. */
    std::vector<XmlElement> Children(const char* name) const;

    bool Has(const char* attribute) const;

    /** The value of @p attribute, or @p otherwise if it is absent. */
    std::string TextOr(const char* attribute, const std::string& otherwise = "") const;

    std::string Text(const char* attribute) const;

    /** The text content of the element. */
    std::string Content() const;

    int64_t Integer(const char* attribute, int64_t min, int64_t max) const;

    /** Integer(), or @p otherwise if the attribute is absent. */
    int64_t IntegerOr(const char* attribute, int64_t min, int64_t max, int64_t otherwise) const;
    double Number(const char* attribute, double min, double max) const;

    /** Throws an InputError: location, element and attribute (if any), then @p message. */
    [[noreturn]] void Fail(const char* attribute, const std::string& message) const;

  private:
    struct File;
    XmlElement(std::shared_ptr<const File> file, const pugi::xml_node& node);

    /**
     * Returns @p text.
     * @throws InputError if a character reference has put a control character into it.
     */
    std::string Checked(const char* attribute, std::string text) const;

    std::shared_ptr<const File> m_file;           //!< shared by all elements of a file
    std::shared_ptr<const pugi::xml_node> m_node; //!< keeps pugixml out of this header
};

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_XML_ELEMENT_H
