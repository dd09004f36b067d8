// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/results/text-table.h"
#include "scenarios/versions.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

namespace
{

/** The first line of @p text, so that an error is one line whatever its source. */
std::string
FirstLine(const std::string& text)
{
    return text.substr(0, text.find('\n'));
}

/**
 * @p text with control characters, which a terminal would interpret, written as "\\x1b", and with
 * words that are too long to read shortened.
 */
std::string
Printable(const std::string& text)
{
    constexpr std::size_t MAX_WORD = 300; // characters
    std::string printable;
    std::size_t word = 0; // characters of the current word
    for (const char c : text)
    {
        const bool isWithinCharacter = (static_cast<unsigned char>(c) & 0xc0) == 0x80; // UTF-8
        word = c == ' ' || c == '\'' ? 0 : word + (isWithinCharacter ? 0 : 1);
        if (word > MAX_WORD)
        {
            printable += word == MAX_WORD + 1 && !isWithinCharacter ? "..." : "";
            continue;
        }
        const auto code = static_cast<unsigned char>(c);
        constexpr unsigned char DELETE = 0x7f;
        printable +=
            code >= ' ' && code != DELETE ? std::string(1, c) : weir::FormatText("\\x%02x", code);
    }
    return printable;
}

int
Refuse(const std::string& message)
{
    std::cerr << "weir: " << Printable(message) << "\n";
    return static_cast<int>(weir::ExitCode::WrongInput);
}

/** @p code, unless the output could not be written, as on a full disk. */
int
WithOutput(int code)
{
    std::cout.flush();
    if (!std::cout)
    {
        std::cerr << "weir: cannot write to standard output\n";
        return static_cast<int>(weir::ExitCode::CheckFailed);
    }
    return code;
}

std::vector<std::string>
OptionNames(const CLI::App& app)
{
    std::vector<std::string> names;
    for (const auto* option : app.get_options())
    {
        for (const auto& name : option->get_lnames())
        {
            names.push_back("--" + name);
        }
    }
    return names;
}

/** Explains a command line in which @p app lacks a known verb. */
std::string
ExplainVerb(const CLI::App& app)
{
    const auto names =
        weir::Mapped<std::string>(app.get_subcommands([](const CLI::App*) { return true; }),
                                  [](const CLI::App* verb) { return verb->get_name(); });
    const auto words = app.remaining();
    return (words.empty() ? std::string("found no verb")
                          : "found the unknown verb '" + words.front() + "'" +
                                weir::DidYouMean(words.front(), names)) +
           ", expected one of: " + weir::JoinNames(names);
}

/** The expected value of @p option, without CLI11's "UINT:INT". */
std::string
ExpectedOf(const CLI::Option& option)
{
    const std::string type = option.get_type_name();
    const auto range = type.find(" in [");
    const auto choices = type.find('{');
    return range != std::string::npos     ? "a number" + type.substr(range)
           : choices != std::string::npos ? "one of " + type.substr(choices)
           : type.empty()                 ? "no value"
                                          : type;
}

/**
 * The option or operand that @p error names first; nullptr: none. Later words may be a type that is
 * called as an operand, "--output: 1 required FILE missing".
 */
const CLI::Option*
OptionOf(const CLI::App& app, const std::string& error)
{
    const CLI::Option* first = nullptr;
    auto begin = std::string::npos;
    for (const auto* option : app.get_options())
    {
        const std::string name = option->get_name();
        const auto at = error.find(name);
        const auto end = at + name.size();
        if (at < begin && (at == 0 || error[at - 1] == ' ') &&
            (end == error.size() || error[end] == ' ' || error[end] == ':'))
        {
            first = option;
            begin = at;
        }
    }
    return first;
}

/**
 * Checks that no option of @p app and of its given verbs has an empty value, as an unset variable
 * of a shell gives; it would count as absent. @throws InputError.
 */
void
CheckValues(const CLI::App& app)
{
    for (const auto* option : app.get_options())
    {
        const auto& values = option->results();
        if (!option->get_lnames().empty() &&
            std::find(values.begin(), values.end(), "") != values.end())
        {
            throw weir::InputError("--" + option->get_lnames().front() +
                                   ": found '', expected a value");
        }
    }
    for (const auto* verb : app.get_subcommands())
    {
        CheckValues(*verb);
    }
}

/** The value of @p option that @p error names, as "SIZES: Value 0 not in range"; else the last. */
std::string
WrongValue(const CLI::Option& option, const std::string& error)
{
    const auto& found = option.results();
    for (const std::string& value : found)
    {
        if (error.find(" " + value + " not ") != std::string::npos)
        {
            return value;
        }
    }
    return found.empty() ? "" : found.back();
}

/** Explains why @p error refused a command line, with the nearest known word. */
std::string
Explain(const CLI::App& app, const CLI::ParseError& error)
{
    const CLI::App* command = &app;
    std::string help = "; see weir ";
    while (!command->get_subcommands().empty())
    {
        command = command->get_subcommands().front();
        help += command->get_name() + " ";
    }
    help += "--help";
    if (command != &app && !app.remaining().empty()) // words before the verb
    {
        return ExplainVerb(app) + help;
    }
    for (const auto& word : app.remaining(true))
    {
        if (word.size() > 1 && word[0] == '-')
        {
            const std::string name = word.substr(0, word.find('='));
            return "found the unknown option '" + name + "'" +
                   weir::DidYouMean(name, OptionNames(*command)) + ", expected another" + help;
        }
    }
    const std::string said = FirstLine(error.what());
    if (said.find("expected") != std::string::npos && said.find("found") != std::string::npos)
    {
        return said + help;
    }
    const CLI::Option* option = OptionOf(*command, said);
    if (option == nullptr)
    {
        const auto words = app.remaining(true);
        return (command->get_require_subcommand_min() > 0 ? ExplainVerb(*command)
                : words.empty()                           ? said
                                : "found the word '" + words.front() + "', expected no more") +
               help;
    }
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    {
        return "found no " + option->get_name() + ", expected it" + help;
    }
    const auto& found = option->results();
    const std::string expected = ExpectedOf(*option);
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr)
    {
        return option->get_name() + ": found '" + WrongValue(*option, said) + "', expected " +
               expected + help;
    }
    return option->get_name() + ": found " + std::to_string(found.size()) + " values, expected " +
           std::to_string(option->get_items_expected_min()) + " (" + expected + ")" + help;
}

/** Runs the command line after "weir". @return the exit code */
int
RunWords(std::vector<std::string> words)
{
    CLI::App app{"Weir simulates distributed training on GPU clusters.", "weir"};
    app.set_version_flag("--version", "weir " + weir::WeirVersion());
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    app.footer(
        "Examples:\n"
        "  weir run gpt-175b-96-h800\n"
        "  weir collective --system hgx-h100 --nodes 4 --op all-reduce\n"
        "  weir list systems\n"
        "Every verb has --help, which 'weir help VERB' prints, too. Exit code: " +
        std::string(weir::EXIT_CODES));
    const std::vector<weir::Command> commands{weir::AddRunCommand(app),
                                              weir::AddCalibrateCommand(app),
                                              weir::AddCollectiveCommand(app),
                                              weir::AddFlowsCommand(app),
                                              weir::AddGraphCommand(app),
                                              weir::AddImportCommand(app),
                                              weir::AddKernelCommand(app),
                                              weir::AddListCommand(app),
                                              weir::AddReferenceCommand(app),
                                              weir::AddReportCommand(app),
                                              weir::AddSearchCommand(app, RunWords),
                                              weir::AddShowCommand(app),
                                              weir::AddSweepCommand(app, RunWords),
                                              weir::AddTopologyCommand(app),
                                              weir::AddValidateCommand(app)};
    if (!words.empty() && words.front() == "help")
    {
        words.erase(words.begin());
        const bool isKnown = std::any_of(commands.begin(), commands.end(), [&](const auto& each) {
            return !words.empty() && each.options->get_name() == words.front();
        });
        if (words.empty() || isKnown)
        {
            words.emplace_back("--help");
        }
    }
    try
    {
        std::reverse(words.begin(), words.end()); // as CLI11 expects them
        app.parse(words);
        CheckValues(app);
        weir::WatchInterruptions();
        for (const auto& command : commands)
        {
            if (command.options->parsed())
            {
                return WithOutput(static_cast<int>(command.run()));
            }
        }
    }
    catch (const CLI::Success& help) // --help and --version
    {
        return app.exit(help);
    }
    catch (const CLI::ParseError& error)
    {
        return Refuse(Explain(app, error));
    }
    catch (const weir::InputError& error)
    {
        return Refuse(error.what());
    }
    catch (const weir::Interrupted& interrupted)
    {
        return weir::EndInterrupted(interrupted);
    }
    catch (const std::bad_alloc&)
    {
        std::cerr << "weir: found too little memory for this run, expected more memory (or a "
                     "higher ulimit -v), fewer GPUs or a coarser --fidelity\n";
        return static_cast<int>(weir::ExitCode::CheckFailed);
    }
    catch (const std::exception& error)
    {
        std::cerr << "weir: " << Printable(FirstLine(error.what())) << "\n";
        return static_cast<int>(weir::ExitCode::CheckFailed);
    }
    return static_cast<int>(weir::ExitCode::Done);
}

} // namespace

int
main(int argc, char** argv)
{
    return RunWords({argv + 1, argv + argc});
}
