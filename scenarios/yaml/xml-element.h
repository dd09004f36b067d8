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
 * An element of an XML file that knows where it stands. Every accessor throws an InputError
 * "file:line:column: element attribute: found ..., expected ...".
 */
class XmlElement
{
  public:
    /**
     * The root of the file at @p path.
     * @throws InputError when it cannot be read, is not XML, or its root is not @p root.
     */
    static XmlElement Load(const std::string& path, const char* root);

    /** The same of the @p text of that file. */
    static XmlElement Parse(std::string text, const std::string& path, const char* root);

    std::string Name() const;

    /** From 1 on. */
    uint32_t Line() const;

    /** The elements in it, in order. */
    std::vector<XmlElement> Children() const;

    /** Those of that name. */
    std::vector<XmlElement> Children(const char* name) const;

    bool Has(const char* attribute) const;

    /** What it says; empty when it is absent. */
    std::string TextOr(const char* attribute, const std::string& otherwise = "") const;

    std::string Text(const char* attribute) const;

    /** The characters between its tags. */
    std::string Content() const;

    int64_t Integer(const char* attribute, int64_t least, int64_t most) const;

    /** Similarly, @p otherwise where it is absent. */
    int64_t IntegerOr(const char* attribute, int64_t least, int64_t most, int64_t otherwise) const;
    double Number(const char* attribute, double least, double most) const;

    /** Throws InputError: place, element and attribute (if any), then @p message. */
    [[noreturn]] void Fail(const char* attribute, const std::string& message) const;

  private:
    struct File;
    XmlElement(std::shared_ptr<const File> file, const pugi::xml_node& node);

    /** @p text, unless a reference has put a control character into it. */
    std::string Checked(const char* attribute, std::string text) const;

    std::shared_ptr<const File> m_file;           //!< all elements of a file keep it
    std::shared_ptr<const pugi::xml_node> m_node; //!< pugixml stays out of this header
};

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_XML_ELEMENT_H
