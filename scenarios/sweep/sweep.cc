// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/sweep/sweep.h"

#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/yaml-node.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

namespace weir
{
namespace
{

constexpr std::size_t MAX_CASES = 100000;

/** A value of one key, or of several that vary jointly. */
struct Choice
{
    std::vector<std::string> values; //!< by key, as in tables
    std::vector<std::string> words;  //!< words of the command line
};

bool
IsOption(const std::string& key)
{
    return key.compare(0, 2, "--") == 0;
}

/** The words that set @p key to @p value on a command line. */
std::vector<std::string>
WordsOf(const std::string& key, const YamlNode& value)
{
    if (!IsOption(key))
    {
        return {"--set", key + "=" + value.InLine()};
    }
    if (!value.IsScalar())
    {
        value.Fail("found " + value.InLine() + ", expected a value of the option " + key);
    }
    const std::string text = value.AsString();
    return text == "true"    ? std::vector<std::string>{key}
           : text == "false" ? std::vector<std::string>{}
                             : std::vector<std::string>{key, text};
}

/** The name of a value in tables. */
std::string
LabelOf(const YamlNode& value)
{
    return value.IsScalar() ? value.AsString() : value.InLine();
}

/** Whether @p word is an output option, which a sweep sets itself. */
bool
IsOutput(const std::string& word)
{
    const std::vector<std::string> outputs{"--output",
                                           "--timeline",
                                           "--csv",
                                           "--json",
                                           "--quiet",
                                           "--explain",
                                           "--keep-partial",
                                           "--help",
                                           "-h"};
    return word.compare(0, 2, "-o") == 0 || IsAmong(word.substr(0, word.find('=')), outputs);
}

/** The names in "system.nodes, jobs.0.gpus", which vary jointly; one more than it has commas. */
std::vector<std::string>
NamesIn(const std::string& keys)
{
    std::vector<std::string> names;
    for (const std::string& part : SplitText(keys, ','))
    {
        const auto begin = part.find_first_not_of(" \t");
        const auto end = part.find_last_not_of(" \t");
        names.push_back(begin == std::string::npos ? "" : part.substr(begin, end - begin + 1));
    }
    return names;
}

/** The choice that sets one key to @p item, or several to the elements of the list @p item. */
Choice
ChoiceOf(const std::vector<std::string>& names, const YamlNode& item)
{
    const auto values = names.size() == 1 ? std::vector{item} : item.Items();
    if (values.size() != names.size())
    {
        item.Fail("found " + std::to_string(values.size()) + " values, expected " +
                  std::to_string(names.size()) + ", one for each key");
    }
    Choice choice;
    for (std::size_t i = 0; i < names.size(); i++)
    {
        const auto words = WordsOf(names[i], values[i]);
        choice.words.insert(choice.words.end(), words.begin(), words.end());
        choice.values.push_back(LabelOf(values[i]));
    }
    return choice;
}

/**
 * The choices of `key: [value, ...]` or `key: {label: value}`; for `key, key` each value is a list.
 */
std::vector<Choice>
ChoicesOf(const std::vector<std::string>& names, const YamlNode& node)
{
    std::vector<Choice> choices;
    if (node.IsMap())
    {
        node.CheckKeys(node.Keys());
        for (const std::string& label : node.Keys())
        {
            choices.push_back(ChoiceOf(names, node.Get(label)));
            choices.back().values.front() = label;
        }
        return choices;
    }
    for (const YamlNode& item : node.Items())
    {
        choices.push_back(ChoiceOf(names, item));
    }
    return choices;
}

/** Reads the words of the command: a list, or a text separated by blanks. */
std::vector<std::string>
ReadWords(const YamlNode& node)
{
    std::vector<std::string> words;
    if (node.IsSequence())
    {
        words = node.AsStrings();
    }
    else
    {
        const std::string text = node.AsString();
        if (text.find_first_of("'\"\\") != std::string::npos)
        {
            node.Fail("found '" + text + "', expected a list of words where one has blanks");
        }
        std::istringstream parts(text);
        for (std::string word; parts >> word;)
        {
            words.push_back(word);
        }
    }
    const std::vector<std::string> verbs{"run", "collective", "flows"};
    const std::string verb = words.empty() ? "" : words.front();
    if (!IsAmong(verb, verbs))
    {
        node.Fail("found the verb '" + verb + "', expected one of: " + JoinNames(verbs) +
                  DidYouMean(verb, verbs));
    }
    for (const std::string& word : words)
    {
        if (IsOutput(word))
        {
            node.Fail("found " + word + ", expected it as an option of weir sweep");
        }
    }
    return words;
}

/** The option of `weir run` with the effect of a key; empty: none. */
std::string
OptionOf(const std::string& key)
{
    return key == "network.fidelity"    ? "--fidelity"
           : key == "network.tolerance" ? "--tolerance"
                                        : "";
}

/** Whether setting @p varied overrides @p fixed, so that the latter has no effect. */
bool
Hides(const std::string& varied, const std::string& fixed)
{
    return varied == fixed || fixed.compare(0, varied.size() + 1, varied + ".") == 0 ||
           OptionOf(varied) == fixed || OptionOf(fixed) == varied;
}

/** @throws InputError where the command of all cases, @p words, sets the varied key. */
void
CheckVaried(const std::string& varied,
            const YamlNode& values,
            const std::vector<std::string>& words)
{
    for (std::size_t i = 0; i < words.size(); i++)
    {
        const std::string fixed = SettingAt(words, i);
        if (!fixed.empty() && Hides(varied, fixed))
        {
            values.Fail("found " + varied + ", which varies, and " + fixed +
                        " for every case, expected one of them");
        }
    }
}

/**
 * @throws InputError where @p varied replaces all of a key of @p earlier, which also varies: tables
 *         would show values that the cases do not have.
 */
void
CheckHidden(const std::string& varied,
            const YamlNode& values,
            const std::vector<std::string>& earlier)
{
    for (const std::string& other : earlier)
    {
        if (Hides(varied, other))
        {
            values.Fail("found " + varied + " after " + other +
                        ", which it replaces, expected one of them, or the other order");
        }
    }
}

/** @throws InputError where two of the choices have the same values. */
void
CheckDistinct(const std::vector<Choice>& choices, const YamlNode& node)
{
    std::set<std::vector<std::string>> known;
    for (const Choice& choice : choices)
    {
        if (!known.insert(choice.values).second)
        {
            node.Fail("found " + JoinNames(choice.values) + " again, expected each value once");
        }
    }
}

/** The last part of "system.fabric.routing" or "--nodes". */
std::string
LastPart(const std::string& key)
{
    return IsOption(key) ? key.substr(2) : key.substr(key.rfind('.') + 1);
}

/** The shortest distinct names of @p keys: the last part of each, or all of it. */
std::vector<std::string>
ColumnsOf(const std::vector<std::string>& keys)
{
    std::vector<std::string> columns;
    for (const std::string& key : keys)
    {
        const std::string last = LastPart(key);
        const auto same = std::count_if(keys.begin(), keys.end(), [&last](const auto& other) {
            return LastPart(other) == last;
        });
        const bool isName = !last.empty() && std::isdigit(static_cast<unsigned char>(last[0])) == 0;
        // Columns of these names hold the case's number and outcome.
        const bool isTaken = last == "case" || last == "ended" || last == "message";
        columns.push_back(same == 1 && isName && !isTaken ? last : key);
    }
    return columns;
}

bool
IsPlain(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string("-_=+.,:/%@^").find(c) != std::string::npos;
}

} // namespace

Sweep
LoadSweep(const std::string& path, const std::vector<std::string>& settings)
{
    const YamlNode node = YamlNode::Load(path);
    node.CheckKeys(YamlKeysOf("sweep"));
    Sweep sweep;
    sweep.path = path;
    sweep.folder = std::filesystem::weakly_canonical(path).parent_path().string();
    const auto title = node.Find("title");
    sweep.title = title ? title->AsString() : std::filesystem::path(path).stem().string();
    sweep.cases.push_back({{}, ReadWords(node.Get("command"))});
    for (const std::string& setting : settings)
    {
        sweep.cases.front().words.insert(sweep.cases.front().words.end(), {"--set", setting});
    }
    const std::vector<std::string> always = sweep.cases.front().words;

    const YamlNode vary = node.Get("vary");
    vary.CheckKeys(vary.Keys());
    if (vary.Keys().empty())
    {
        vary.Fail("found no keys, expected one or more with their values");
    }
    for (const std::string& keys : vary.Keys())
    {
        const YamlNode values = vary.Get(keys);
        const auto names = NamesIn(keys);
        for (const std::string& name : names)
        {
            if (name.empty() || name == "--" || IsOutput(name))
            {
                values.Fail("found the key '" + keys +
                            "', expected a key, or an option of what is run");
            }
            if (IsAmong(name, sweep.keys))
            {
                values.Fail("found " + name + " again, expected each key once");
            }
            CheckVaried(name, values, always);
            CheckHidden(name, values, sweep.keys);
            sweep.keys.push_back(name);
        }
        const auto choices = ChoicesOf(names, values);
        if (choices.empty())
        {
            values.Fail("found no values, expected one or more");
        }
        CheckDistinct(choices, values);
        if (sweep.cases.size() * choices.size() > MAX_CASES)
        {
            values.Fail("found more than " + std::to_string(MAX_CASES) +
                        " cases in all, expected at most that");
        }
        std::vector<SweepCase> cases;
        for (const SweepCase& before : sweep.cases)
        {
            for (const Choice& choice : choices)
            {
                SweepCase next = before;
                next.values.insert(next.values.end(), choice.values.begin(), choice.values.end());
                next.words.insert(next.words.end(), choice.words.begin(), choice.words.end());
                cases.push_back(std::move(next));
            }
        }
        sweep.cases = std::move(cases);
    }
    sweep.columns = ColumnsOf(sweep.keys);
    return sweep;
}

ProcessShare
ShareFromEnvironment(const std::function<const char*(const char*)>& variable)
{
    constexpr std::pair<const char*, const char*> STARTERS[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
        {"PMI_RANK", "PMI_SIZE"},
        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    for (const auto& [index, count] : STARTERS)
    {
        const char* rank = variable(index);
        const char* size = variable(count);
        if (rank == nullptr || size == nullptr)
        {
            continue;
        }
        const auto own = ParseNumber<std::size_t>(rank);
        const auto all = ParseNumber<std::size_t>(size);
        if (!own || !all || *own >= *all)
        {
            throw InputError(std::string(index) + ": found '" + rank + "' with " + count + " '" +
                             size + "', expected a rank from 0 to below that size, or --share");
        }
        return {*own, *all};
    }
    return {};
}

ProcessShare
ParseShare(const std::string& text)
{
    const std::vector<std::string> parts = SplitText(text, '/');
    if (parts.size() == 2)
    {
        const auto own = ParseNumber<std::size_t>(parts[0]);
        const auto all = ParseNumber<std::size_t>(parts[1]);
        if (own && all && *own >= 1 && *own <= *all)
        {
            return {*own - 1, *all};
        }
    }
    throw InputError("--share: found '" + text + "', expected a share, such as 2/8");
}

std::string
SettingAt(const std::vector<std::string>& words, std::size_t at)
{
    const std::string& word = words[at];
    if (!IsOption(word))
    {
        return "";
    }
    const std::string name = word.substr(0, word.find('='));
    if (name != "--set")
    {
        return name;
    }
    const bool isInside = word.size() > name.size();
    const std::string setting = isInside                ? word.substr(name.size() + 1)
                                : at + 1 < words.size() ? words[at + 1]
                                                        : "";
    return setting.substr(0, setting.find('='));
}

std::string
ShellLine(const std::vector<std::string>& words)
{
    std::string line;
    for (const std::string& word : words)
    {
        line += line.empty() ? "" : " ";
        if (!word.empty() && std::all_of(word.begin(), word.end(), IsPlain))
        {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word)
        {
            line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        }
        line += '\'';
    }
    return line;
}

} // namespace weir
