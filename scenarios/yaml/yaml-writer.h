// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_YAML_WRITER_H
#define WEIR_SCENARIOS_YAML_YAML_WRITER_H

#include "fabric/units.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace YAML
{
class Emitter;
} // namespace YAML

namespace weir
{

/** Writes a map of quantities, lists and maps (YamlMap); YamlNode reads them back unchanged. */
class YamlWriter
{
  public:
    YamlWriter();
    ~YamlWriter();
    YamlWriter(const YamlWriter&) = delete;
    YamlWriter& operator=(const YamlWriter&) = delete;

    void BeginList(const char* key);
    void EndList();

    /** Writes a list whose items @p write writes, one for each of @p values. */
    template <typename Values, typename Write>
    void List(const char* key, const Values& values, const Write& write)
    {
        BeginList(key);
        for (const auto& value : values)
        {
            write(value);
        }
        EndList();
    }

    /** Writes a list of texts or of integers. */
    template <typename Values>
    void List(const char* key, const Values& values)
    {
        List(key, values, [this](const auto& value) {
            if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>)
            {
                Item(std::to_string(value));
            }
            else
            {
                Item(value);
            }
        });
    }

    void Text(const char* key, const std::string& value);
    void TextUnlessEmpty(const char* key, const std::string& value);
    void Number(const char* key, double value);
    void Flag(const char* key, bool value);
    void Size(const char* key, Bytes value);
    void DurationAboveZero(const char* key, Time value);

    // Nothing without a value, nor where it is infinite.
    void Integer(const char* key, std::optional<uint64_t> value);
    void Duration(const char* key, std::optional<Time> value);
    void Speed(const char* key, std::optional<Rate> value);

    /** Writes the next item of a list. */
    void Item(const std::string& value);

    /** Writes the next item of a list: [a, b, ...]. */
    void Numbers(const std::vector<double>& values);

    /** Ends the map. @return the YAML text */
    std::string GetText();

  private:
    friend class YamlMap;

    std::unique_ptr<YAML::Emitter> m_out;
    bool m_isOpen{true};
};

/** Writes a map, from its construction to its destruction. */
class YamlMap
{
  public:
    /** The next item of a list. */
    explicit YamlMap(YamlWriter& out);
    /** The value of @p key. */
    YamlMap(YamlWriter& out, const char* key);
    ~YamlMap();
    YamlMap(const YamlMap&) = delete;
    YamlMap& operator=(const YamlMap&) = delete;

  private:
    YamlWriter& m_out;
};

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_YAML_WRITER_H
