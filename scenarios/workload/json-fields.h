// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WORKLOAD_JSON_FIELDS_H
#define WEIR_SCENARIOS_WORKLOAD_JSON_FIELDS_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/**
 * @file
 * Typed reading of JSON that others have written: every refusal names the place. A *place* is the
 * file and what is read of it, "a.json: node 7".
 */
namespace weir
{

using Json = nlohmann::ordered_json;

/**
 * Refuses JSON that is nested deeper than any trace: copying and printing such a value would use up
 * the stack. O(characters). @throws InputError
 */
void ExpectShallow(const std::string& text, const std::string& path);

/** @throws InputError with the line and column where @p text is no JSON, or as ExpectShallow. */
Json ParseJson(const std::string& text, const std::string& path);

/** The value of @p key. @throws InputError when @p object is no object or has none. */
const Json& FieldOf(const Json& object, const char* key, const std::string& place);

/** @throws InputError with the nearest name where @p object has another key than @p keys. */
void ExpectKeys(const Json& object, const std::vector<const char*>& keys, const std::string& place);

/** The value of @p key; null where @p object is no object or has none. */
const Json* FindField(const Json& object, const char* key);

/** A whole number within bounds, also as a float or a text of digits. @throws InputError */
int64_t IntegerOf(const Json& value, int64_t least, int64_t most, const std::string& place);

/** The same, of @p key, which must be there. @throws InputError */
int64_t IntegerOf(
    const Json& object, const char* key, int64_t least, int64_t most, const std::string& place);

/** The same, of @p key; @p absent where there is none or null. */
int64_t IntegerOf(const Json& object,
                  const char* key,
                  int64_t absent,
                  int64_t least,
                  int64_t most,
                  const std::string& place);

/** A text. @throws InputError */
const std::string& TextOf(const Json& value, const std::string& place);

/** The text of @p key; @p absent where there is none. @throws InputError where it is no text. */
std::string TextOf(const Json& object,
                   const char* key,
                   const std::string& absent,
                   const std::string& place);

/** A list. @throws InputError */
const Json& ListOf(const Json& value, const std::string& place);

/** "found 7", "found a list", for messages. */
std::string FoundText(const Json& value);

} // namespace weir

#endif // WEIR_SCENARIOS_WORKLOAD_JSON_FIELDS_H
