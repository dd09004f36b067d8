// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/workload/json-fields.h"

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace weir
{

namespace
{

/** Refuses JSON of over 500 levels, which would exhaust the stack when copied. O(characters). */
void
ExpectShallow(const std::string& text, const std::string& path)
{
    constexpr std::size_t MAX_DEPTH = 500;
    std::size_t depth = 0;
    bool isInText = false;
    for (std::size_t i = 0; i < text.size(); i++)
    {
        const char c = text[i];
        if (isInText)
        {
            i += c == '\\' ? 1 : 0;
            isInText = c != '"';
            continue;
        }
        isInText = c == '"';
        depth += c == '[' || c == '{' ? 1 : 0;
        depth -= (c == ']' || c == '}') && depth > 0 ? 1 : 0;
        if (depth > MAX_DEPTH)
        {
            throw InputError(path + ": found JSON nested deeper than " + std::to_string(MAX_DEPTH) +
                             " at byte " + std::to_string(i) + ", expected a trace");
        }
    }
}

} // namespace

Json
ParseJson(const std::string& text,
          const std::string& path,
          const char* expected,
          const Json::parser_callback_t& take)
{
    ExpectShallow(text, path);
    try
    {
        return Json::parse(text, take);
    }
    catch (const Json::exception& error)
    {
        const std::string said = error.what();
        const std::size_t at = said.find("at line ");
        throw InputError(path + ": found invalid JSON " +
                         (at == std::string::npos ? said : said.substr(at)) + ", expected " +
                         expected);
    }
}

const Json*
FindField(const Json& object, const char* key)
{
    if (!object.is_object())
    {
        return nullptr;
    }
    const auto at = object.find(key);
    return at == object.end() ? nullptr : &*at;
}

void
ExpectKeys(const Json& object, const std::vector<const char*>& keys, const std::string& location)
{
    if (!object.is_object())
    {
        throw InputError(location + ": " + FoundText(object) + ", expected a map");
    }
    for (const auto& item : object.items())
    {
        const std::string& key = item.key();
        const bool isKnown = std::any_of(
            keys.begin(), keys.end(), [&key](const char* known) { return key == known; });
        if (!isKnown)
        {
            const std::vector<std::string> names(keys.begin(), keys.end());
            throw InputError(location + ": found the unknown key '" + key +
                             "', expected one of: " + JoinNames(names) + DidYouMean(key, names));
        }
    }
}

const Json&
FieldOf(const Json& object, const char* key, const std::string& location)
{
    const Json* found = FindField(object, key);
    if (found == nullptr)
    {
        throw InputError(location + ": " + FoundText(object) + " without " + key +
                         ", expected one");
    }
    return *found;
}

std::string
FoundText(const Json& value)
{
    constexpr std::size_t SHOWN = 60;
    if (value.is_array() || value.is_object())
    {
        return value.is_array() ? "found a list" : "found a map";
    }
    return "found " + value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, SHOWN);
}

int64_t
IntegerOf(const Json& value, int64_t min, int64_t max, const std::string& location)
{
    bool isWhole = value.is_number_integer();
    int64_t number = 0;
    if (value.is_number_unsigned())
    {
        isWhole = value.get<uint64_t>() <= static_cast<uint64_t>(max);
        number = isWhole ? static_cast<int64_t>(value.get<uint64_t>()) : 0;
    }
    else if (isWhole)
    {
        number = value.get<int64_t>();
    }
    else if (value.is_number_float())
    {
        constexpr double EXACT = 9007199254740992.0; // 2^53
        const double real = value.get<double>();
        isWhole = std::abs(real) <= EXACT && std::floor(real) == real;
        number = isWhole ? static_cast<int64_t>(real) : 0;
    }
    else if (value.is_string())
    {
        const auto& text = value.get_ref<const std::string&>();
        constexpr std::size_t MAX_DIGITS = 18; // below 2^63
        const std::size_t first = !text.empty() && text[0] == '-' ? 1 : 0;
        isWhole = text.size() > first && text.size() - first <= MAX_DIGITS &&
                  std::all_of(text.begin() + static_cast<std::ptrdiff_t>(first),
                              text.end(),
                              [](char c) { return c >= '0' && c <= '9'; });
        number = isWhole ? std::strtoll(text.c_str(), nullptr, 10) : 0;
    }
    if (!isWhole || number < min || number > max)
    {
        throw InputError(location + ": " + FoundText(value) + ", expected a whole number of " +
                         std::to_string(min) + " to " + std::to_string(max));
    }
    return number;
}

int64_t
IntegerOf(
    const Json& object, const char* key, int64_t min, int64_t max, const std::string& location)
{
    return IntegerOf(FieldOf(object, key, location), min, max, location + ", " + key);
}

int64_t
IntegerOf(const Json& object,
          const char* key,
          int64_t absent,
          int64_t min,
          int64_t max,
          const std::string& location)
{
    const Json* found = FindField(object, key);
    return found == nullptr || found->is_null()
               ? absent
               : IntegerOf(*found, min, max, location + ", " + key);
}

const std::string&
TextOf(const Json& value, const std::string& location)
{
    if (!value.is_string())
    {
        throw InputError(location + ": " + FoundText(value) + ", expected a text");
    }
    return value.get_ref<const std::string&>();
}

std::string
TextOf(const Json& object, const char* key, const std::string& absent, const std::string& location)
{
    const Json* found = FindField(object, key);
    return found == nullptr || found->is_null() ? absent : TextOf(*found, location + ", " + key);
}

const Json&
ListOf(const Json& value, const std::string& location)
{
    if (!value.is_array())
    {
        throw InputError(location + ": " + FoundText(value) + ", expected a list");
    }
    return value;
}

} // namespace weir
