// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WORKLOAD_JSON_FIELDS_H
#define WEIR_SCENARIOS_WORKLOAD_JSON_FIELDS_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/**
 * @file
 * Typed reading of JSON files from other programs; every error names the location. A *location* is
 * the file and the element, "a.json: node 7".
 */
namespace weir
{

using Json = nlohmann::ordered_json;

/**
 * Parses JSON.
 * @param take sees each value, as of Json::parse
 * @throws InputError where @p text is not JSON, or nests deeper than 500 levels.
 */
Json ParseJson(const std::string& text,
               const std::string& path,
               const char* expected = "one object",
               const Json::parser_callback_t& take = nullptr);

/** The value of @p key. @throws InputError when @p object is not an object or lacks it. */
const Json& FieldOf(const Json& object, const char* key, const std::string& location);

/**
 * @throws InputError, with the nearest name, where @p object is not an object or has a key not in
 *         @p keys.
 */
void ExpectKeys(const Json& object,
                const std::vector<const char*>& keys,
                const std::string& location);

/** The value of @p key; null where @p object is not an object or lacks it. */
const Json* FindField(const Json& object, const char* key);

/** A whole number within bounds, also as a float or as digits in a text. @throws InputError */
int64_t IntegerOf(const Json& value, int64_t min, int64_t max, const std::string& location);

/** The same for @p key, which must be present. @throws InputError */
int64_t IntegerOf(
    const Json& object, const char* key, int64_t min, int64_t max, const std::string& location);

/** The same for @p key; @p absent where it is missing or null. @throws InputError */
int64_t IntegerOf(const Json& object,
                  const char* key,
                  int64_t absent,
                  int64_t min,
                  int64_t max,
                  const std::string& location);

/** A text. @throws InputError */
const std::string& TextOf(const Json& value, const std::string& location);

/** The same for @p key; @p absent where it is missing or null. @throws InputError */
std::string TextOf(const Json& object,
                   const char* key,
                   const std::string& absent,
                   const std::string& location);

/** A list. @throws InputError */
const Json& ListOf(const Json& value, const std::string& location);

/** "found 7", "found a list", for messages. */
std::string FoundText(const Json& value);

} // namespace weir

#endif // WEIR_SCENARIOS_WORKLOAD_JSON_FIELDS_H
