// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/text-file.h"
#include "scenarios/yaml/yaml-node-state.h"
#include "scenarios/yaml/yaml-node.h"

#include <sstream>
#include <unordered_map>
#include <vector>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace weir
{

namespace
{

/** Records where the documents of a text begin. */
class DocumentStarts : public YAML::EventHandler
{
  public:
    void OnDocumentStart(const YAML::Mark& mark) override
    {
        marks.push_back(mark);
        m_isEmpty = true;
    }

    void OnDocumentEnd() override
    {
    }

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        NoteContent(mark);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
    }

    void OnScalar(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  const std::string& value) override
    {
        NoteContent(mark);
    }

    void OnSequenceStart(const YAML::Mark& mark,
                         const std::string& tag,
                         YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override
    {
        NoteContent(mark);
    }

    void OnSequenceEnd() override
    {
    }

    void OnMapStart(const YAML::Mark& mark,
                    const std::string& tag,
                    YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override
    {
        NoteContent(mark);
    }

    void OnMapEnd() override
    {
    }

    std::vector<YAML::Mark> marks; //!< first content of each document

  private:
    void NoteContent(const YAML::Mark& mark)
    {
        marks.back() = m_isEmpty ? mark : marks.back();
        m_isEmpty = false;
    }

    bool m_isEmpty{true}; //!< the last document has had no content yet
};

} // namespace

/** Converts yaml-cpp's nodes to the tree of YamlNode. */
class YamlLoader
{
  public:
    /** @param hasLocations whether messages give lines and columns of the text */
    YamlLoader(std::string file, bool hasLocations)
        : m_file(std::move(file)),
          m_hasLocations(hasLocations)
    {
    }

    /** @throws InputError when @p text is not exactly one YAML document. */
    YamlNode Load(const std::string& text)
    {
        YAML::Node document;
        DocumentStarts starts;
        try
        {
            // YAML::LoadAll() is not used: a text that begins with a comma gives it endless
            // documents.
            std::istringstream in(text);
            YAML::Parser parser(in);
            while (starts.marks.size() < 2 && parser.HandleNextDocument(starts))
            {
            }
            document = YAML::Load(text);
        }
        catch (const YAML::Exception& error)
        {
            throw InputError(m_file + At(Mark(error.mark)) + ": found invalid YAML (" + error.msg +
                             "), expected YAML");
        }
        if (starts.marks.size() > 1)
        {
            const bool isHere = starts.marks[1].pos == starts.marks[0].pos;
            throw InputError(m_file + At(Mark(starts.marks[1])) +
                             (isHere ? ": found invalid YAML (unexpected token), expected YAML"
                                     : ": found a second YAML document, expected one"));
        }
        if (starts.marks.empty() || document.IsNull())
        {
            throw InputError(m_file + (m_hasLocations
                                           ? ": found an empty document, expected YAML"
                                           : ": found '" + text + "', expected a value"));
        }
        return YamlNode(Convert(document, "", 0));
    }

  private:
    using State = YamlNode::State;

    static constexpr int MAX_DEPTH = 100; //!< also ends aliases that contain themselves
    static constexpr std::size_t MAX_VALUES = 1'000'000; //!< limits values multiplied by aliases

    YamlMark Mark(const YAML::Mark& mark) const
    {
        const bool isLocated = m_hasLocations && !mark.is_null();
        return isLocated ? YamlMark{mark.line + 1, mark.column + 1} : YamlMark{};
    }

    static std::string At(const YamlMark& mark)
    {
        return mark.line == 0 ? ""
                              : ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
    }

    std::shared_ptr<State> Convert(const YAML::Node& node, const std::string& path, int depth)
    {
        auto state = std::make_shared<State>();
        state->file = m_file;
        state->path = path;
        state->mark = Mark(node.Mark());
        if (depth > MAX_DEPTH || ++m_values > MAX_VALUES)
        {
            throw InputError(m_file + At(state->mark) +
                             ": found too much nesting or aliasing, expected at most " +
                             std::to_string(MAX_DEPTH) + " levels and " +
                             std::to_string(MAX_VALUES) + " values");
        }
        if (node.IsScalar())
        {
            state->kind = YamlKind::Scalar;
            state->text = node.Scalar();
            CheckText(state->text, state->mark, path);
        }
        else if (node.IsSequence())
        {
            state->kind = YamlKind::Sequence;
            for (const auto& item : node)
            {
                state->items.push_back(
                    Convert(item, Below(path, std::to_string(state->items.size())), depth + 1));
            }
        }
        else if (node.IsMap())
        {
            state->kind = YamlKind::Map;
            ConvertEntries(node, *state, depth);
        }
        return state;
    }

    void ConvertEntries(const YAML::Node& node, State& state, int depth)
    {
        std::unordered_map<std::string, int> firstLines; // line of the first occurrence by key
        for (const auto& entry : node)
        {
            const YamlMark keyMark = Mark(entry.first.Mark());
            if (!entry.first.IsScalar())
            {
                throw InputError(m_file + At(keyMark) + ": " + state.path +
                                 ": found a key that is not a text, expected a text");
            }
            const std::string& key = entry.first.Scalar();
            const std::string path = Below(state.path, key);
            CheckText(key, keyMark, path);
            const auto [first, isNew] = firstLines.emplace(key, keyMark.line);
            if (!isNew)
            {
                throw InputError(m_file + At(keyMark) + ": " + path + ": found the key '" + key +
                                 "' twice" + FirstOnLine(first->second) + ", expected it once");
            }
            auto value = Convert(entry.second, path, depth + 1);
            value->keyMark = keyMark;
            if (value->kind == YamlKind::Null)
            {
                value->mark = keyMark; // a missing value has no location
            }
            state.entries.emplace_back(key, std::move(value));
        }
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
            throw InputError(m_file + At(mark) + ": " + path + ": found " + ByteName(text[wrong]) +
                             ", expected text");
        }
    }

    static std::string FirstOnLine(int line)
    {
        return line == 0 ? "" : " (first on line " + std::to_string(line) + ")";
    }

    static std::string Below(const std::string& path, const std::string& key)
    {
        return path.empty() ? key : path + "." + key;
    }

    std::string m_file;
    bool m_hasLocations;
    std::size_t m_values{0};
};

YamlNode
YamlNode::Load(const std::string& path)
{
    return YamlLoader(path, true).Load(ReadTextFile(path, "a YAML file"));
}

YamlNode
YamlNode::Parse(const std::string& text, const std::string& name)
{
    return YamlLoader(name, true).Load(text);
}

YamlNode
YamlNode::ParseArgument(const std::string& text, const std::string& name)
{
    return YamlLoader(name, false).Load(text);
}

void
YamlNode::Emit(YAML::Emitter& out, const State& state)
{
    switch (state.kind)
    {
    case YamlKind::Null:
        out << YAML::Null;
        return;
    case YamlKind::Scalar:
        out << state.text;
        return;
    case YamlKind::Sequence:
        out << YAML::BeginSeq;
        for (const auto& item : state.items)
        {
            Emit(out, *item);
        }
        out << YAML::EndSeq;
        return;
    case YamlKind::Map:
        out << YAML::BeginMap;
        for (const auto& [key, value] : state.entries)
        {
            out << YAML::Key << key << YAML::Value;
            Emit(out, *value);
        }
        out << YAML::EndMap;
    }
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
