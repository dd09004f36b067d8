// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_YAML_NODE_H
#define WEIR_SCENARIOS_YAML_YAML_NODE_H

#include "fabric/units.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/named-choices.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace YAML
{
class Emitter;
} // namespace YAML

namespace weir
{

/**
 * A YAML value that knows where it stands: file, line, column and key path. Every accessor throws
 * an InputError with that place, what was found and what was expected.
 *
 * Quantities are text with a unit: "400Gbps", "25GB/s", "150ns", "40MiB", "1.98GHz";
 * a bare number where a unit belongs is an error.
 */
class YamlNode
{
  public:
    /** @throws InputError when the file is missing, unreadable or not YAML. */
    static YamlNode Load(const std::string& path);

    /** Of text that is no file; @p name stands in for the file in messages. */
    static YamlNode Parse(const std::string& text, const std::string& name);

    /** The same for a value on the command line, whose lines and columns messages leave out. */
    static YamlNode ParseArgument(const std::string& text, const std::string& name);

    bool IsMap() const;
    bool IsSequence() const;
    bool IsScalar() const;

    /** The value of @p key; throws when it is absent. */
    YamlNode Get(const std::string& key) const;

    /** The value of @p key, or nothing. */
    std::optional<YamlNode> Find(const std::string& key) const;

    bool Has(const std::string& key) const;

    /** Sets @p value to the value of @p key as @p as gives it, where the map has one. */
    template <typename V, typename T, typename... A>
    void Read(const char* key,
              V& value,
              T (YamlNode::*as)(A...) const,
              std::common_type_t<A>... arguments) const
    {
        if (const auto found = Find(key))
        {
            value = ((*found).*as)(arguments...);
        }
    }

    /** The same with @p read, which reads the value. */
    template <typename V, typename T>
    void Read(const char* key, V& value, T (*read)(const YamlNode&)) const
    {
        if (const auto found = Find(key))
        {
            value = read(*found);
        }
    }

    /** The same with one of the names of @p choices. */
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

    /** Throws, naming the nearest of @p known, when the map has a key that is not among them, or
     * one twice. */
    void CheckKeys(std::initializer_list<const char*> known) const;
    void CheckKeys(const std::vector<std::string>& known) const;

    std::vector<std::string> Keys() const;
    std::vector<YamlNode> Items() const;

    std::string AsString() const;

    /** Of a list. */
    std::vector<std::string> AsStrings() const;

    /** A path that is meant from the folder of the file that the value was written in. */
    std::string AsPathBesideFile() const;

    int64_t AsInteger(int64_t least, int64_t most) const;

    /** As AsInteger, for bounds from 0 on that 32 bits hold. */
    uint32_t AsCount(int64_t least, int64_t most) const;

    /** Of random draws: from 0 to 2^63 - 1. */
    uint64_t AsSeed() const;

    double AsNumber(double least, double most) const;
    bool AsBool() const;
    Time AsTime() const;
    Rate AsRate() const;
    Bytes AsBytes() const;
    double AsHertz() const;
    double AsPercent(double least, double most) const; //!< "3%" is 0.03, as are the bounds

    // The same, refusing zero.
    Time AsTimeAboveZero() const;
    Rate AsRateAboveZero() const;
    Bytes AsSizeAboveZero() const;

    /** One of the names of @p choices. */
    template <typename E>
    E AsEnum(const NamedChoices<E>& choices) const
    {
        if (const std::optional<E> value = FindChoice(choices, AsString()))
        {
            return *value;
        }
        FailChoice(ChoiceNames(choices));
    }

    /** "file:line:column: key.path". */
    std::string Where() const;

    /** Throws InputError: Where() + ": " + @p message. */
    [[noreturn]] void Fail(const std::string& message) const;

    /** Throws InputError: found this text, expected one of @p names, the nearest of them suggested.
     */
    [[noreturn]] void FailChoice(const std::vector<std::string>& names) const;

    /** The file that the value was written in, as it was named. */
    const std::string& File() const;

    /** Whether the value comes from a `base:` of what is read, so that it may be of no use. */
    bool IsInherited() const;

    /** Says that this value and all below it come from a base. */
    void SetInherited();

    /**
     * Throws at the first value that was written but never read, inherited ones aside: one that
     * would be ignored in silence. To be called when all has been read. O(values).
     * @param exempt keys below which nothing need be read: remarks, or what is checked on its own.
     */
    void CheckAllRead(std::initializer_list<const char*> exempt) const;

    /** Makes a text, the name of a base, a map over it: `hgx-h100` to `{base: hgx-h100}`. */
    void MakeBase();

    /**
     * Replaces (or adds) the value at a dotted path below this node, as `--set a.b=text` does;
     * sequences are indexed by number ("jobs.0.steps"). The name of a system or model becomes the
     * base of the keys that are set below it.
     */
    void Set(const std::string& dottedPath, const std::string& text);

    /**
     * Merges @p over into this map: maps by key, everything else replaced. For `base:`. What
     * merged maps lack is missing at the place of @p over.
     */
    void Overlay(const YamlNode& over);

    /** The value as YAML text, for provenance. */
    std::string Dump() const;

    /** The same in one line, as `--set` takes it: "[{kind: link-down, at: 5ms}]". */
    std::string InLine() const;

  private:
    friend class YamlLoader;
    struct State;
    explicit YamlNode(std::shared_ptr<State> state);

    /** "found 'x'", "found a list", ... */
    std::string Found() const;

    /** The text of a scalar; anything else is not what was @p expected. */
    std::string Text(const std::string& expected) const;

    template <typename Q>
    Q AsQuantity(Q (*parse)(const std::string&), const std::string& expected) const;

    template <typename Q>
    Q AboveZero(Q quantity, const char* expected) const;

    static void CheckRead(const State& state, std::initializer_list<const char*> exempt);
    static void Inherit(State& state);
    static void Relocate(State& state, const std::string& file, const std::string& path);
    static void Emit(YAML::Emitter& out, const State& state);

    std::shared_ptr<State> m_state; //!< yaml-cpp stays out of this header
};

/** Replaces values by "key.path=value" settings. @throws InputError as YamlNode::Set. */
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
