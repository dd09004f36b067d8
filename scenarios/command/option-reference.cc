// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/option-reference.h"

#include "scenarios/versions.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace weir
{
namespace
{

/** An option or a positional argument. */
struct OptionText
{
    std::vector<std::string> names; //!< "-o", "--output"; of a positional its own name alone
    std::string value;              //!< "FILE"; empty: a flag
    std::string byDefault;          //!< empty: none
    std::string help;
    bool isRequired;
    bool isPositional;
};

/** A verb with what it takes. */
struct VerbText
{
    std::string name; //!< "kernel gemm"
    std::string help;
    std::string footer;
    std::vector<OptionText> options;
};

OptionText
Describe(const CLI::Option& option)
{
    OptionText text{{},
                    "",
                    option.get_default_str(),
                    option.get_description(),
                    option.get_required(),
                    option.get_positional()};
    if (text.isPositional)
    {
        text.names.push_back(option.get_name(true));
    }
    else
    {
        for (const std::string& name : option.get_snames())
        {
            text.names.push_back("-" + name);
        }
        for (const std::string& name : option.get_lnames())
        {
            text.names.push_back("--" + name);
        }
    }
    if (!text.isPositional && option.get_items_expected_max() > 0)
    {
        text.value = option.get_type_name();
        // "UINT:INT in [1 - 64]" is a type and its range: the type alone names the value.
        text.value = text.value.substr(0, text.value.find(':'));
    }
    return text;
}

void
Collect(const CLI::App& app, const std::string& name, std::vector<VerbText>& verbs)
{
    VerbText verb{name, app.get_description(), app.get_footer(), {}};
    for (const CLI::Option* option : app.get_options())
    {
        verb.options.push_back(Describe(*option));
    }
    verbs.push_back(std::move(verb));
    for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    {
        Collect(*each, name.empty() ? each->get_name() : name + " " + each->get_name(), verbs);
    }
}

/** The program itself (its name is empty), then every verb. */
std::vector<VerbText>
Verbs(const CLI::App& application)
{
    std::vector<VerbText> verbs;
    Collect(application, "", verbs);
    return verbs;
}

/** Text as roff takes it: hyphens and backslashes escaped, no line that looks like a request. */
std::string
Roff(const std::string& text)
{
    std::string escaped;
    for (const char c : text)
    {
        const bool atStart = escaped.empty() || escaped.back() == '\n';
        escaped += atStart && (c == '.' || c == '\'') ? "\\&" : "";
        escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    }
    return escaped;
}

std::string
Join(const std::vector<std::string>& words, const std::string& between)
{
    std::string text;
    for (const std::string& word : words)
    {
        text += (text.empty() ? "" : between) + word;
    }
    return text;
}

std::string
Upper(std::string text)
{
    std::transform(
        text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

void
PrintRoff(std::ostream& out, const OptionText& option)
{
    out << ".TP\n\\fB" << Roff(Join(option.names, ", ")) << "\\fR";
    if (!option.value.empty())
    {
        out << " \\fI" << Roff(option.value) << "\\fR";
    }
    out << "\n" << Roff(option.help);
    if (!option.byDefault.empty())
    {
        out << " [" << Roff(option.byDefault) << "]";
    }
    out << "\n";
}

} // namespace

std::string
ManPage(const CLI::App& application)
{
    std::ostringstream out;
    out << ".TH WEIR 1 \"\" \"Weir " << WeirVersion() << "\" \"User Commands\"\n"
        << ".SH NAME\nweir \\- simulate distributed training on GPU clusters\n"
        << ".SH SYNOPSIS\n.B weir\n.I VERB\n[\\fIARGUMENT\\fR]...\n";
    for (const VerbText& verb : Verbs(application))
    {
        out << (verb.name.empty()
                    ? ".SH OPTIONS\n"
                    : ".SH \"WEIR " + Roff(Upper(verb.name)) + "\"\n" + Roff(verb.help) + "\n");
        for (const OptionText& option : verb.options)
        {
            PrintRoff(out, option);
        }
        if (!verb.footer.empty())
        {
            out << ".PP\n.nf\n" << Roff(verb.footer) << "\n.fi\n";
        }
    }
    out << ".SH ENVIRONMENT\n"
        << ".TP\n\\fBWEIR_DATA_PATH\\fR\nFolders of systems, models, runs and GPUs of one's own, "
           "colons between; searched first.\n"
        << ".TP\n\\fBWEIR_PYTHON\\fR\nThe interpreter of weir report; else python3.\n"
        << ".SH EXIT STATUS\n0 done, 1 a check failed, 2 the input was wrong.\n";
    return out.str();
}

std::string
BashCompletion(const CLI::App& application)
{
    std::ostringstream cases;
    std::string verbNames;
    for (const VerbText& verb : Verbs(application))
    {
        std::string words;
        for (const OptionText& option : verb.options)
        {
            words += option.isPositional ? "" : option.names.back() + " ";
        }
        const std::string within = verb.name.empty() ? "" : verb.name + " ";
        for (const VerbText& each : Verbs(application))
        {
            const bool isBelow = each.name.size() > within.size() &&
                                 each.name.compare(0, within.size(), within) == 0 &&
                                 each.name.find(' ', within.size()) == std::string::npos;
            words += isBelow ? each.name.substr(within.size()) + " " : "";
        }
        cases << "        '" << verb.name << "') words='" << words << "' ;;\n";
        verbNames += verb.name.empty() ? "" : " '" + verb.name + "'";
    }
    return R"(# Completion of bash for weir, printed by `weir reference bash`.
_weir()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local verb= known word words= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${verb:+$verb }${COMP_WORDS[i]}
        for known in)" +
           verbNames + R"(; do
            [[ $word == "$known" ]] && verb=$known
        done
    done
    case "$previous" in
        --system | --topology) words=$(weir list systems 2>/dev/null | awk '{print $1}') ;;
        --gpu) words=$(weir list gpus 2>/dev/null | awk '{print $1}') ;;
        run | graph) words=$(weir list runs 2>/dev/null | awk '{print $1}') ;;
        validate) words=$(weir list suites 2>/dev/null | awk '{print $1}') ;;
        list) words='systems models runs gpus calibrations suites' ;;
        show) [[ $verb == show ]] && words='system model run gpu calibration suite network' ;;
        system | model | run | gpu | calibration | suite)
            [[ $verb == show ]] && words=$(weir list "${previous}s" 2>/dev/null | awk '{print $1}') ;;
    esac
    if [[ -z $words ]]; then
        case "$verb" in
)" + cases.str() +
           R"(        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _weir weir
)";
}

std::string
OptionsAsJson(const CLI::App& application)
{
    nlohmann::ordered_json verbs = nlohmann::ordered_json::array();
    for (const VerbText& verb : Verbs(application))
    {
        nlohmann::ordered_json options = nlohmann::ordered_json::array();
        for (const OptionText& option : verb.options)
        {
            options.push_back({{"names", option.names},
                               {"value", option.value},
                               {"default", option.byDefault},
                               {"help", option.help},
                               {"required", option.isRequired}});
        }
        verbs.push_back({{"verb", verb.name},
                         {"help", verb.help},
                         {"footer", verb.footer},
                         {"options", options}});
    }
    return verbs.dump(2) + "\n";
}

} // namespace weir
