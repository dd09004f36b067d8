// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/versions.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/nearest-name.h"

#include <CLI/CLI.hpp>
#include <cstdio>
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

/** @p text with its control characters, which a terminal would obey, written as "\\x1b". */
std::string
Printable(const std::string& text)
{
    std::string printable;
    for (const char c : text)
    {
        const auto code = static_cast<unsigned char>(c);
        constexpr unsigned char DELETE = 0x7f;
        if (code >= ' ' && code != DELETE)
        {
            printable += c;
            continue;
        }
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\x%02x", code);
        printable += escape;
    }
    return printable;
}

int
Refuse(const std::string& message)
{
    std::cerr << "weir: " << Printable(message) << "\n";
    return static_cast<int>(weir::ExitCode::WrongInput);
}

/** @p code, unless what was printed did not get out, as into a full disk. */
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

/** The options that @p app knows by their long names. */
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

/** What is wrong with a command line without a verb. */
std::string
ExplainVerb(const CLI::App& app)
{
    std::vector<std::string> names;
    for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    {
        names.push_back(verb->get_name());
    }
    const auto words = app.remaining();
    if (words.empty())
    {
        return "expected one of: " + weir::JoinNames(names) + "; see weir --help";
    }
    return "unknown verb '" + words.front() + "'" + weir::DidYouMean(words.front(), names) +
           ", expected one of: " + weir::JoinNames(names);
}

/** What is wrong with a command line that @p error refused, with the nearest right word. */
std::string
Explain(const CLI::App& app, const CLI::ParseError& error)
{
    const auto verbs = app.get_subcommands();
    const CLI::App& place = verbs.empty() ? app : *verbs.front();
    for (const auto& word : app.remaining(true))
    {
        if (word.size() > 1 && word[0] == '-')
        {
            const std::string name = word.substr(0, word.find('='));
            return "unknown option '" + name + "'" + weir::DidYouMean(name, OptionNames(place)) +
                   "; see weir " + (verbs.empty() ? "" : place.get_name() + " ") + "--help";
        }
    }
    if (verbs.empty())
    {
        return ExplainVerb(app);
    }
    return FirstLine(error.what()) + "; see weir " + place.get_name() + " --help";
}

} // namespace

int
main(int argc, char** argv)
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
        "Every verb has --help. Exit code: 0 done, 1 a check failed, 2 wrong input.");
    const std::vector<weir::Command> commands{weir::AddRunCommand(app),
                                              weir::AddCalibrateCommand(app),
                                              weir::AddCollectiveCommand(app),
                                              weir::AddFlowsCommand(app),
                                              weir::AddGraphCommand(app),
                                              weir::AddKernelCommand(app),
                                              weir::AddListCommand(app),
                                              weir::AddReferenceCommand(app),
                                              weir::AddReportCommand(app),
                                              weir::AddShowCommand(app),
                                              weir::AddTopologyCommand(app),
                                              weir::AddValidateCommand(app)};
    try
    {
        app.parse(argc, argv);
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
        std::cerr << "weir: interrupted; "
                  << (interrupted.kept.empty() ? "nothing was written" : interrupted.kept) << "\n";
        return 128 + interrupted.signal;
    }
    catch (const std::bad_alloc&)
    {
        std::cerr << "weir: found too little memory for this run, expected a machine or a limit "
                     "(ulimit -v) with more, fewer GPUs or a coarser --fidelity\n";
        return static_cast<int>(weir::ExitCode::CheckFailed);
    }
    catch (const std::exception& error)
    {
        std::cerr << "weir: " << Printable(FirstLine(error.what())) << "\n";
        return static_cast<int>(weir::ExitCode::CheckFailed);
    }
    return static_cast<int>(weir::ExitCode::Done);
}
