// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_YAML_WRITER_H
#define WEIR_SCENARIOS_YAML_YAML_WRITER_H

#include "fabric/units.h"

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace YAML
{
class Emitter;
} // namespace YAML

namespace weir
{

/** Writes YAML maps and lists of quantities with units; YamlNode reads them back unchanged. */
class YamlWriter
{
  public:
    YamlWriter();
    ~YamlWriter();
    YamlWriter(const YamlWriter&) = delete;
    YamlWriter& operator=(const YamlWriter&) = delete;

    /** Opens a map: the document, the next item of a list, or the value of @p key. */
    void BeginMap();
    void BeginMap(const char* key);
    void EndMap();

    void BeginList(const char* key);
    void EndList();

    /** Writes a list of texts or of integers. */
    template <typename Values>
    void List(const char* key, const Values& values)
    {
        BeginList(key);
        for (const auto& value : values)
        {
            if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>)
            {
                Item(std::to_string(value));
            }
            else
            {
                Item(value);
            }
        }
        EndList();
    }

    void Text(const char* key, const std::string& value);
    void Integer(const char* key, uint64_t value);
    void Number(const char* key, double value);
    void Flag(const char* key, bool value);
    void Size(const char* key, Bytes value);
    void Duration(const char* key, Time value);
    void Speed(const char* key, Rate value);

    /** Writes the next item of a list. */
    void Item(const std::string& value);

    /** Writes the next item of a list: [a, b, c]. */
    void Triple(uint64_t a, uint64_t b, uint64_t c);

    /** Writes the next item of a list: [a, b, ...]. */
    void Numbers(const std::vector<double>& values);

    /** The YAML text written so far. */
    std::string GetText() const;

  private:
    std::unique_ptr<YAML::Emitter> m_out;
};

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_YAML_WRITER_H
