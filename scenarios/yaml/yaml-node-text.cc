// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/text-file.h"
#include "scenarios/yaml/yaml-node.h"

#include <mutex>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <vector>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace weir
{

namespace
{

/** Builds the tree of YamlNode from yaml-cpp's events. */
class YamlLoader : private YAML::EventHandler
{
  public:
    /** @param hasLocations whether messages give lines and columns of the text */
    YamlLoader(std::string file, bool hasLocations)
        : m_file(std::move(file)),
          m_hasLocations(hasLocations)
    {
    }

    /** Number of values of the loaded text. */
    std::size_t Values() const
    {
        return m_values;
    }

    /** The root of @p text. @throws InputError when it is not exactly one YAML document. */
    std::shared_ptr<YamlValue> Load(const std::string& text)
    {
        try
        {
            std::istringstream in(text);
            YAML::Parser parser(in);
            // A text that begins with a comma has endless documents.
            while (m_starts.size() < 2 && parser.HandleNextDocument(*this))
            {
            }
        }
        catch (const YAML::Exception& error)
        {
            throw InputError(Mark(error.mark).In(m_file) + ": found invalid YAML (" + error.msg +
                             "), expected YAML");
        }
        if (m_starts.size() > 1)
        {
            const bool isHere = m_starts[1].pos == m_starts[0].pos;
            throw InputError(Mark(m_starts[1]).In(m_file) +
                             (isHere ? ": found invalid YAML (unexpected token), expected YAML"
                                     : ": found a second YAML document, expected one"));
        }
        if (m_error)
        {
            throw *m_error;
        }
        if (!m_root || m_root->kind == YamlKind::Null)
        {
            throw InputError(m_file + (m_hasLocations
                                           ? ": found an empty document, expected YAML"
                                           : ": found '" + text + "', expected a value"));
        }
        return std::move(m_root);
    }

  private:
    static constexpr std::size_t MAX_DEPTH = 100;
    static constexpr std::size_t MAX_VALUES = 1'000'000; //!< limits values multiplied by aliases

    /** A map or sequence whose end has not been reached. */
    struct OpenValue
    {
        std::shared_ptr<YamlValue> state;
        std::optional<std::string> key{}; //!< of a map: that of the next value
        YamlMark keyMark{};
        std::unordered_map<std::string, int> firstLines{}; //!< of its keys
    };

    void OnDocumentStart(const YAML::Mark& mark) override
    {
        m_starts.push_back(mark);
        m_isEmpty = true;
    }

    void OnDocumentEnd() override
    {
    }

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        OnValue(mark, [&] { Add(YamlKind::Null, mark, anchor); });
    }

    void OnScalar(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  const std::string& value) override
    {
        NoteContent(mark);
        Handle([&] {
            if (!ExpectsKey())
            {
                const auto state = Add(YamlKind::Scalar, mark, anchor);
                state->text = value;
                CheckText(value, state->mark, state->path);
                return;
            }
            SetKey(value, Mark(mark));
            if (anchor != YAML::NullAnchor)
            {
                m_anchors[anchor] = MakeValue(YamlKind::Scalar, Mark(mark));
                m_anchors[anchor]->text = value;
            }
        });
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        Handle([&] {
            const YamlValue& original = *m_anchors.at(anchor);
            if (ExpectsKey() && original.kind == YamlKind::Scalar)
            {
                SetKey(original.text, original.mark);
                return;
            }
            RefuseKey(original.mark);
            for (const OpenValue& open : m_open)
            {
                if (open.state.get() == &original)
                {
                    RefuseDepth(Mark(mark)); // it contains itself
                }
            }
            Put(CopyOf(original, PathOfNext(), m_open.size()));
        });
    }

    void OnSequenceStart(const YAML::Mark& mark,
                         const std::string& tag,
                         YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override
    {
        OnValue(mark, [&] { m_open.push_back({Add(YamlKind::Sequence, mark, anchor)}); });
    }

    void OnSequenceEnd() override
    {
        Handle([&] { m_open.pop_back(); });
    }

    void OnMapStart(const YAML::Mark& mark,
                    const std::string& tag,
                    YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override
    {
        OnValue(mark, [&] { m_open.push_back({Add(YamlKind::Map, mark, anchor)}); });
    }

    void OnMapEnd() override
    {
        Handle([&] { m_open.pop_back(); });
    }

    /** Notes where the content of a document begins. */
    void NoteContent(const YAML::Mark& mark)
    {
        m_starts.back() = m_isEmpty ? mark : m_starts.back();
        m_isEmpty = false;
    }

    /**
     * Handles an event of the first document, unless one before it was wrong: an error in the
     * syntax, which may be the reason, has precedence over what @p handler throws.
     */
    template <typename F>
    void Handle(const F& handler)
    {
        if (m_starts.size() > 1 || m_error)
        {
            return;
        }
        try
        {
            handler();
        }
        catch (const InputError& error)
        {
            m_error = error;
        }
    }

    /** Handles an event at @p mark that cannot be a key. */
    template <typename F>
    void OnValue(const YAML::Mark& mark, const F& handler)
    {
        NoteContent(mark);
        Handle([&] {
            RefuseKey(Mark(mark));
            handler();
        });
    }

    bool ExpectsKey() const
    {
        return !m_open.empty() && m_open.back().state->kind == YamlKind::Map && !m_open.back().key;
    }

    void RefuseKey(const YamlMark& mark) const
    {
        if (ExpectsKey())
        {
            throw InputError(mark.In(m_file, m_open.back().state->path) +
                             ": found a key that is not a text, expected a text");
        }
    }

    void SetKey(const std::string& key, const YamlMark& mark)
    {
        OpenValue& map = m_open.back();
        const std::string path = PathBelow(map.state->path, key);
        CheckText(key, mark, path);
        const auto [first, isNew] = map.firstLines.emplace(key, mark.line);
        if (!isNew)
        {
            throw InputError(mark.In(m_file, path) + ": found the key '" + key + "' twice" +
                             FirstOnLine(first->second) + ", expected it once");
        }
        map.key = key;
        map.keyMark = mark;
    }

    /** Path of the next value: below the innermost open one. */
    std::string PathOfNext() const
    {
        if (m_open.empty())
        {
            return "";
        }
        const OpenValue& open = m_open.back();
        return PathBelow(open.state->path,
                         open.key ? *open.key : std::to_string(open.state->items.size()));
    }

    /** Adds a value of @p kind, at first empty, to the innermost open one. */
    std::shared_ptr<YamlValue> Add(YamlKind kind, const YAML::Mark& mark, YAML::anchor_t anchor)
    {
        auto state = MakeValue(kind, Mark(mark));
        state->path = PathOfNext();
        Count(state->mark, m_open.size());
        if (anchor != YAML::NullAnchor)
        {
            m_anchors[anchor] = state;
        }
        Put(state);
        return state;
    }

    void Put(std::shared_ptr<YamlValue> value)
    {
        if (m_open.empty())
        {
            m_root = std::move(value);
            return;
        }
        OpenValue& open = m_open.back();
        if (!open.key)
        {
            open.state->items.push_back(std::move(value));
            return;
        }
        value->keyMark = open.keyMark;
        if (value->kind == YamlKind::Null)
        {
            value->mark = open.keyMark; // a missing value has no location
        }
        open.state->entries.emplace_back(*open.key, std::move(value));
        open.key.reset();
    }

    std::shared_ptr<YamlValue> MakeValue(YamlKind kind, const YamlMark& mark) const
    {
        auto state = std::make_shared<YamlValue>();
        state->kind = kind;
        state->file = m_file;
        state->mark = mark;
        return state;
    }

    /** A copy for an alias at @p path, @p depth levels deep. */
    std::shared_ptr<YamlValue> CopyOf(const YamlValue& original,
                                      const std::string& path,
                                      std::size_t depth)
    {
        Count(original.mark, depth);
        auto copy = std::make_shared<YamlValue>(original);
        copy->path = path;
        for (auto& [key, value] : copy->entries)
        {
            value = CopyOf(*value, PathBelow(path, key), depth + 1);
        }
        for (std::size_t i = 0; i < copy->items.size(); i++)
        {
            copy->items[i] = CopyOf(*copy->items[i], PathBelow(path, std::to_string(i)), depth + 1);
        }
        return copy;
    }

    /** Counts a value. @throws InputError when there are too many, or levels above it. */
    void Count(const YamlMark& mark, std::size_t depth)
    {
        if (depth > MAX_DEPTH || ++m_values > MAX_VALUES)
        {
            RefuseDepth(mark);
        }
    }

    [[noreturn]] void RefuseDepth(const YamlMark& mark) const
    {
        throw InputError(
            mark.In(m_file) + ": found too much nesting or aliasing, expected at most " +
            std::to_string(MAX_DEPTH) + " levels and " + std::to_string(MAX_VALUES) + " values");
    }

    /**
     * @throws InputError at a control character, which escape sequences can produce and terminals
     *         would execute.
     */
    void CheckText(const std::string& text, const YamlMark& mark, const std::string& path) const
    {
        const std::size_t wrong = FindNonText(text);
        if (wrong != std::string::npos)
        {
            throw InputError(mark.In(m_file, path) + ": found " + ByteName(text[wrong]) +
                             ", expected text");
        }
    }

    YamlMark Mark(const YAML::Mark& mark) const
    {
        const bool isLocated = m_hasLocations && !mark.is_null();
        return isLocated ? YamlMark{mark.line + 1, mark.column + 1} : YamlMark{};
    }

    static std::string FirstOnLine(int line)
    {
        return line == 0 ? "" : " (first on line " + std::to_string(line) + ")";
    }

    std::string m_file;
    bool m_hasLocations;
    std::vector<YAML::Mark> m_starts; //!< first content of each document
    bool m_isEmpty{true};             //!< the last document has had no content yet
    std::shared_ptr<YamlValue> m_root;
    std::vector<OpenValue> m_open; //!< from the root on
    std::unordered_map<YAML::anchor_t, std::shared_ptr<YamlValue>> m_anchors;
    std::size_t m_values{0};
    std::optional<InputError> m_error; //!< the first one in the tree
};

void
Emit(YAML::Emitter& out, const YamlValue& value)
{
    switch (value.kind)
    {
    case YamlKind::Null:
        out << YAML::Null;
        return;
    case YamlKind::Scalar:
        out << value.text;
        return;
    case YamlKind::Sequence:
        out << YAML::BeginSeq;
        for (const auto& item : value.items)
        {
            Emit(out, *item);
        }
        out << YAML::EndSeq;
        return;
    case YamlKind::Map:
        out << YAML::BeginMap;
        for (const auto& [key, below] : value.entries)
        {
            out << YAML::Key << key << YAML::Value;
            Emit(out, *below);
        }
        out << YAML::EndMap;
    }
}

} // namespace

/**
 * Keeps files as they were parsed: descriptions of the catalog are read again for each scenario of
 * a sample, a sweep or a search, and parsing takes far longer than a copy. Thread-safe.
 */
YamlNode
YamlNode::Load(const std::string& path)
{
    constexpr std::size_t MAX_TEXT = 1 << 18;
    constexpr std::size_t MAX_VALUES = 1 << 14; // aliases make many of a short text
    constexpr std::size_t MAX_FILES = 1000;
    using Root = std::shared_ptr<const YamlValue>;
    static std::mutex mutex;
    static std::unordered_map<std::string, std::pair<std::string, Root>> parsed; // text and root
    const std::string text = ReadTextFile(path, "a YAML file");
    std::unique_lock<std::mutex> lock(mutex);
    const auto found = parsed.find(path);
    Root root =
        found != parsed.end() && found->second.first == text ? found->second.second : nullptr;
    lock.unlock();
    if (root == nullptr)
    {
        YamlLoader loader(path, true);
        root = loader.Load(text);
        lock.lock();
        if (text.size() <= MAX_TEXT && loader.Values() <= MAX_VALUES && parsed.size() < MAX_FILES)
        {
            parsed[path] = {text, root};
        }
    }
    return YamlNode(root->Clone());
}

YamlNode
YamlNode::Parse(const std::string& text, const std::string& name)
{
    return YamlNode(YamlLoader(name, true).Load(text));
}

YamlNode
YamlNode::ParseArgument(const std::string& text, const std::string& name)
{
    return YamlNode(YamlLoader(name, false).Load(text));
}

std::string
YamlNode::Dump() const
{
    YAML::Emitter out;
    Emit(out, *m_state);
    return std::string(out.c_str()) + "\n";
}

std::string
YamlNode::InLine() const
{
    YAML::Emitter out;
    out.SetSeqFormat(YAML::Flow);
    out.SetMapFormat(YAML::Flow);
    Emit(out, *m_state);
    return out.c_str();
}

} // namespace weir
