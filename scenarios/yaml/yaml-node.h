// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_YAML_NODE_H
#define WEIR_SCENARIOS_YAML_YAML_NODE_H

#include "fabric/units.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/named-choices.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weir
{

enum class YamlKind : uint8_t
{
    Null,
    Scalar,
    Sequence,
    Map
};

/** A location in a file, from 1; line 0 if the text is not from a file. */
struct YamlMark
{
    int line{0};
    int column{0};

    /** Location "file:line:column: path", without what is not known. */
    std::string In(const std::string& file, const std::string& path = "") const;
};

/** The path of @p key below @p path: "path.key". */
std::string PathBelow(const std::string& path, const std::string& key);

/** A value of a YAML tree; it keeps its own location when it is merged into another tree. */
struct YamlValue
{
    YamlKind kind{YamlKind::Null};
    std::string text; //!< of a scalar
    std::string file;
    std::string path; //!< dotted keys from the root of its file; empty at the root
    YamlMark mark;
    uint32_t bases{0};  //!< bases between the last file and the one that wrote it
    bool isRead{false}; //!< its text has been read
    YamlMark keyMark;   //!< location of its key, if any
    std::vector<std::pair<std::string, std::shared_ptr<YamlValue>>> entries; //!< of a map, in order
    std::vector<std::shared_ptr<YamlValue>> items;                           //!< of a sequence

    /** The value of @p key in a map, or null. */
    std::shared_ptr<YamlValue>* FindEntry(const std::string& key);

    std::shared_ptr<YamlValue> Clone() const;

    /** Location "file:line:column: key.path". */
    std::string Where() const;

    /** Description for messages: "found 'x'", "found a list", ... */
    std::string Found() const;
};

/**
 * A YAML value with its location: file, line, column and key path. Every accessor throws an
 * InputError with that location, what was found and what was expected.
 *
 * Quantities are text with a unit: "400Gbps", "25GB/s", "150ns", "40MiB", "1.98GHz"; a number
 * without a unit is an error where a unit is required.
 */
class YamlNode
{
  public:
    /** @throws InputError when the file is missing, unreadable or not YAML. */
    static YamlNode Load(const std::string& path);

    /** Parses text that is not from a file; messages show @p name instead of a file. */
    static YamlNode Parse(const std::string& text, const std::string& name);

    /** The same for a command-line value; messages omit lines and columns. */
    static YamlNode ParseArgument(const std::string& text, const std::string& name);

    bool IsMap() const;
    bool IsSequence() const;
    bool IsScalar() const;

    /** The value of @p key. @throws InputError when it is absent. */
    YamlNode Get(const std::string& key) const;

    /** The value of @p key, or nothing. */
    std::optional<YamlNode> Find(const std::string& key) const;

    bool Has(const std::string& key) const;

    /** The value at @p dottedPath below this node, or nothing. */
    std::optional<YamlNode> FindPath(const std::string& dottedPath) const;

    /**
     * The value at the longest part of @p dottedPath that exists below this node, and the number of
     * characters of that part: 0 for this node itself.
     */
    std::pair<YamlNode, std::size_t> FindDeepest(const std::string& dottedPath) const;

    /** If the map has @p key, sets @p value to what @p read, an accessor or function, gives. */
    template <typename V, typename F, typename... A>
    void Read(const char* key, V& value, const F& read, const A&... arguments) const
    {
        if (const auto found = Find(key))
        {
            value = std::invoke(read, *found, arguments...);
        }
    }

    /** The same with one of the names in @p choices. */
    template <typename V, typename E>
    void Read(const char* key,
              V& value,
              const std::vector<std::pair<const char*, E>>& choices) const
    {
        if (const auto found = Find(key))
        {
            value = found->AsEnum(choices);
        }
    }

    /** Similarly returns that result, or @p otherwise if the map lacks the key. */
    template <typename V, typename F, typename... A>
    V ReadOr(const char* key, V otherwise, const F& read, const A&... arguments) const
    {
        Read(key, otherwise, read, arguments...);
        return otherwise;
    }

    /**
     * @throws InputError when the map has a key that is not in @p known, with the closest known
     *         key.
     */
    void CheckKeys(const std::vector<std::string>& known) const;

    std::vector<std::string> Keys() const;
    std::vector<YamlNode> Items() const;

    /** The items of a list with items. @param expected instead of none: "at least one tile" */
    std::vector<YamlNode> ItemsOf(const std::string& expected) const;

    /** The result of @p read, an accessor or a function, for each item of a list. */
    template <typename F, typename... A>
    auto Each(const F& read, const A&... arguments) const
    {
        std::vector<std::decay_t<std::invoke_result_t<const F&, const YamlNode&, const A&...>>> all;
        for (const YamlNode& item : Items())
        {
            all.push_back(std::invoke(read, item, arguments...));
        }
        return all;
    }

    /** The same for the items of ItemsOf. */
    template <typename F, typename... A>
    auto EachOf(const std::string& expected, const F& read, const A&... arguments) const
    {
        ItemsOf(expected);
        return Each(read, arguments...);
    }

    std::string AsString() const;

    /** The texts of a list. */
    std::vector<std::string> AsStrings() const;

    /** A path, relative to the folder of the file in which the value was written. */
    std::string AsPathBesideFile() const;

    int64_t AsInteger(int64_t min, int64_t max) const;

    /** Same as AsInteger, for bounds from 0 that fit in 32 bits. */
    uint32_t AsCount(int64_t min, int64_t max) const;

    /** A seed of random draws: from 0 to 2^63 - 1. */
    uint64_t AsSeed() const;

    double AsNumber(double min, double max) const;
    bool AsBool() const;
    Time AsTime() const;
    Rate AsRate() const;
    Bytes AsBytes() const;
    double AsHertz() const;
    double AsPercent(double min, double max) const; //!< "3%" is 0.03, as are bounds

    // The same; they refuse zero.
    Time AsTimeAboveZero() const;
    Rate AsRateAboveZero() const;
    Bytes AsSizeAboveZero() const;

    /** The value of one of the names in @p choices. */
    template <typename E>
    E AsEnum(const NamedChoices<E>& choices) const
    {
        if (const std::optional<E> value = FindChoice(choices, AsString()))
        {
            return *value;
        }
        FailChoice(ChoiceNames(choices));
    }

    /** Location "file:line:column: key.path". */
    std::string Where() const;

    /** Throws InputError: Where() + ": " + @p message. */
    [[noreturn]] void Fail(const std::string& message) const;

    /** Throws an InputError: this value was found, @p expected was expected. */
    [[noreturn]] void FailExpected(const std::string& expected) const;

    /** Throws an InputError: this was found, one of @p names expected; suggests the closest. */
    [[noreturn]] void FailChoice(const std::vector<std::string>& names) const;

    /** The name of the file in which the value was written, as it was given. */
    const std::string& File() const;

    /** Whether the value is from a `base:`, so that it may remain unused. */
    bool IsInherited() const;

    /** Whether the value was written over a base, at any depth, that wrote @p other. */
    bool IsOver(const YamlNode& other) const;

    /** Marks this value and all values below it as inherited from one base more. */
    void SetInherited();

    /**
     * @throws InputError at the first value that was written, not inherited, and never read, and so
     *         would be ignored. Call it after everything has been read. O(values).
     * @param exempt keys below which values may stay unread, such as remarks
     */
    void CheckAllRead(std::initializer_list<const char*> exempt) const;

    /** Turns the name of a base into a map with that base: `hgx-h100` to `{base: hgx-h100}`. */
    void MakeBase();

    /**
     * Replaces (or adds) the value at a dotted path below this node, as `--set a.b=text` does. List
     * items are addressed by index ("jobs.0.steps"). If a system or model is a name, that name
     * becomes the base of the keys that are set below it.
     * @throws InputError on an empty key, an index out of range, or a path through a text.
     */
    void Set(const std::string& dottedPath, const std::string& text);

    /** The same for a value that is @p text itself, not YAML. */
    void SetText(const std::string& dottedPath, const std::string& text);

    /**
     * Merges @p over into this map for `base:`: maps by key; other values are replaced. Messages
     * about missing keys of merged maps have the location of @p over.
     */
    void Overlay(const YamlNode& over);

    /** The value as block YAML, for provenance. */
    std::string Dump() const;

    /** The value as YAML on one line, as `--set` accepts it: "[{kind: link-down, at: 5ms}]". */
    std::string InLine() const;

  private:
    explicit YamlNode(std::shared_ptr<YamlValue> state);

    /** @throws InputError when it is not a map. */
    void ExpectMap() const;

    /** The text of a scalar. @throws InputError with @p expected for other kinds. */
    std::string Text(const std::string& expected) const;

    template <typename Q>
    Q AsQuantity(Q (*parse)(const std::string&), const std::string& expected) const;

    template <typename Q>
    Q AboveZero(Q quantity, const char* expected) const;

    /** Puts @p value at a dotted path; @p name for messages. */
    void Place(const std::string& dottedPath,
               const std::string& name,
               std::shared_ptr<YamlValue> value);

    std::shared_ptr<YamlValue> m_state;
};

/** Applies "key.path=value" settings. @throws InputError as YamlNode::Set. */
inline void
ApplySettings(YamlNode& node, const std::vector<std::string>& settings)
{
    for (const std::string& setting : settings)
    {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
        {
            throw InputError("--set " + setting + ": found no " + (equals == 0 ? "key" : "'='") +
                             ", expected key.path=value");
        }
        node.Set(setting.substr(0, equals), setting.substr(equals + 1));
    }
}

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_YAML_NODE_H
