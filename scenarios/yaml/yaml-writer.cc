// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/yaml-writer.h"

#include "scenarios/yaml/quantity.h"

#include <yaml-cpp/yaml.h>

namespace weir
{

YamlWriter::YamlWriter()
    : m_out(std::make_unique<YAML::Emitter>())
{
    *m_out << YAML::BeginMap;
}

YamlWriter::~YamlWriter() = default;

void
YamlWriter::BeginList(const char* key)
{
    *m_out << YAML::Key << key << YAML::Value << YAML::BeginSeq;
}

void
YamlWriter::EndList()
{
    *m_out << YAML::EndSeq;
}

void
YamlWriter::Text(const char* key, const std::string& value)
{
    *m_out << YAML::Key << key << YAML::Value << value;
}

void
YamlWriter::TextUnlessEmpty(const char* key, const std::string& value)
{
    if (!value.empty())
    {
        Text(key, value);
    }
}

void
YamlWriter::Integer(const char* key, std::optional<uint64_t> value)
{
    TextUnlessEmpty(key, value ? std::to_string(*value) : "");
}

void
YamlWriter::Number(const char* key, double value)
{
    Text(key, FormatNumber(value));
}

void
YamlWriter::Flag(const char* key, bool value)
{
    Text(key, value ? "true" : "false");
}

void
YamlWriter::Size(const char* key, Bytes value)
{
    Text(key, FormatBytes(value));
}

void
YamlWriter::Duration(const char* key, std::optional<Time> value)
{
    TextUnlessEmpty(key, value && !value->IsInfinite() ? FormatTime(*value) : "");
}

void
YamlWriter::DurationAboveZero(const char* key, Time value)
{
    if (value > Time())
    {
        Duration(key, value);
    }
}

void
YamlWriter::Speed(const char* key, std::optional<Rate> value)
{
    TextUnlessEmpty(key, value && !value->IsInfinite() ? FormatRate(*value) : "");
}

void
YamlWriter::Item(const std::string& value)
{
    *m_out << value;
}

void
YamlWriter::Numbers(const std::vector<double>& values)
{
    *m_out << YAML::Flow << YAML::BeginSeq;
    for (const double value : values)
    {
        *m_out << FormatNumber(value);
    }
    *m_out << YAML::EndSeq;
}

std::string
YamlWriter::GetText()
{
    if (m_isOpen)
    {
        *m_out << YAML::EndMap;
        m_isOpen = false;
    }
    return std::string(m_out->c_str()) + "\n";
}

YamlMap::YamlMap(YamlWriter& out)
    : m_out(out)
{
    *m_out.m_out << YAML::BeginMap;
}

YamlMap::YamlMap(YamlWriter& out, const char* key)
    : m_out(out)
{
    *m_out.m_out << YAML::Key << key << YAML::Value << YAML::BeginMap;
}

YamlMap::~YamlMap()
{
    *m_out.m_out << YAML::EndMap;
}

} // namespace weir
