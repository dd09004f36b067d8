// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/collective.h"
#include "collectives/nccl/nccl-settings.h"
#include "collectives/nccl/node-costs.h"
#include "fabric/kinds/fabric-kind.h"
#include "fabric/parameters/parameter-visitor.h"
#include "fabric/routing/routing-policies.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/transport-spec.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/readers/plan-keys.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/versions.h"
#include "scenarios/writers/parameter-writer.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/named-choices.h"
#include "scenarios/yaml/names.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#ifdef WEIR_WITH_NS3
#include "ns3/object-reference.h"
#endif

namespace weir
{
namespace
{

struct OptionText
{
    std::vector<std::string> names; //!< "-o", "--output"; for a positional argument, its name
    std::string value;              //!< "FILE"; empty: a flag
    std::string byDefault;          //!< empty: none
    std::string help;
    bool isRequired;
    bool isPositional;
};

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
        // "UINT:INT in [1 - 64]" is a type and its range: keep the type.
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

/** The program itself (with an empty name), then every verb. */
std::vector<VerbText>
Verbs(const CLI::App& application)
{
    std::vector<VerbText> verbs;
    Collect(application, "", verbs);
    return verbs;
}

/** Escapes text for roff: hyphens, backslashes, and lines that would be requests. */
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
Upper(std::string text)
{
    std::transform(
        text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

void
PrintRoff(std::ostream& out, const OptionText& option)
{
    out << ".TP\n\\fB" << Roff(JoinNames(option.names)) << "\\fR";
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

/** The manual page of @p application and all its verbs, in roff (man(7)). */
std::string
ManPage(const CLI::App& application)
{
    std::ostringstream out;
    out << ".TH WEIR 1 \"\" \"Weir " << WeirVersion() << "\" \"User Commands\"\n"
        << ".SH NAME\nweir \\- simulate distributed training on GPU clusters\n"
        << ".SH SYNOPSIS\n"
           ".B weir\n"
           ".I VERB\n"
           "[\\fIARGUMENT\\fR]...\n";
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
        << ".TP\n"
           "\\fBWEIR_DATA_PATH\\fR\n"
           "Colon-separated list of folders with the user's systems, models, runs and GPUs; "
           "searched first.\n"
        << ".TP\n"
           "\\fBWEIR_PYTHON\\fR\n"
           "Python interpreter of weir report; python3 where unset.\n"
        << ".SH EXIT STATUS\n"
        << EXIT_CODES << "\n";
    return out.str();
}

/** The values of @p option of the verb @p verb; empty: any text, such as the name of a file. */
std::vector<std::string>
ValuesOf(const OptionText& option, const std::string& verb)
{
    const std::string& name = option.names.back();
    return name == "--fidelity"             ? ChoiceNames(FidelitiesOf(verb))
           : name == "--operation"          ? ChoiceNames(ChoicesUpTo(LAST_COLLECTIVE_OP))
           : name == "--op"                 ? ChoiceNames(ChoicesUpTo(LAST_COLLECTIVE_OP))
           : name == "--congestion-control" ? CongestionControls().Names()
           : name == "--routing"            ? RoutingPolicies().Names()
                                            : std::vector<std::string>();
}

/**
 * Shell cases with the values of options, by verb. After an option of any text there are no words,
 * so that bash completes the names of files.
 */
std::string
ValueCases(const std::vector<VerbText>& verbs)
{
    std::string cases;
    std::string ofAnyText;
    for (const VerbText& verb : verbs)
    {
        for (const OptionText& option : verb.options)
        {
            if (option.value.empty())
            {
                continue;
            }
            const std::vector<std::string> values = ValuesOf(option, verb.name);
            std::string patterns;
            for (const std::string& name : option.names)
            {
                patterns += (patterns.empty() ? "'" : " | '") + verb.name + " " + name + "'";
            }
            if (values.empty())
            {
                ofAnyText += (ofAnyText.empty() ? "" : " | \\\n        ") + patterns;
                continue;
            }
            cases += "        " + patterns + ") words='" + JoinNames(values, " ") + "' ;;\n";
        }
    }
    return cases + "        " + ofAnyText + ") [[ -n $kind || $current == -* ]] || return ;;\n";
}

/**
 * The completion script for bash: verbs, options, files, and names of the catalog by `weir list`.
 */
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
    std::string plurals;
    std::string singles;
    std::string kindCases;
    for (const auto& [plural, kind] : CatalogKinds())
    {
        plurals += plural + std::string(" ");
        singles += SingularName(kind) + " ";
        kindCases += "        " + SingularName(kind) + ") kind=" + plural + " ;;\n";
    }
    singles += "network";
    return R"(# Completion of bash for weir, printed by `weir reference bash`.
_weir()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local verb= known word words= kind= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${verb:+$verb }${COMP_WORDS[i]}
        for known in)" +
           verbNames + R"(; do
            [[ $word == "$known" ]] && verb=$known
        done
    done
    case "$previous" in
        --system | --topology) kind=systems ;;
        --gpu) kind=gpus ;;
        run | graph | search) [[ $verb == "$previous" ]] && kind=runs ;;
        sweep) [[ $verb == sweep ]] && kind=sweeps ;;
        validate) kind=suites ;;
        list) words=')" +
           plurals + R"(' ;;
        show) words=')" +
           singles + R"(' ;;
    esac
    [[ $verb == "topology $previous" ]] && kind=systems
    [[ $verb == show ]] && case "$previous" in
)" + kindCases +
           R"(    esac
    case "$verb $previous" in
)" + ValueCases(Verbs(application)) +
           R"(    esac
    if [[ $current == -* ]]; then
        words= kind=
    fi
    [[ -n $kind ]] && words=$(weir list "$kind" 2>/dev/null | awk '{print $1}')
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

/**
 * The verbs as a JSON array of {verb, help, footer, options: [{names, value, default, help,
 * required}]}; sub-verbs are named "kernel gemm".
 */
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

std::vector<YamlKey>
KeysOfComponent(Parameterized& component)
{
    std::vector<YamlKey> keys;
    ForEachParameter(component, [&](const ParameterInfo& info, const Parameter& parameter) {
        std::string help = info.help;
        const bool isFile = std::holds_alternative<GraphParameter>(parameter);
        const std::string value = isFile ? "" : TextOf(parameter);
        if (info.presence == Presence::Required)
        {
            help += " Required.";
        }
        else if (!value.empty())
        {
            help += " Default: " + value + ".";
        }
        const std::string source = info.source;
        help += source.empty() ? "" : " Source: " + source + ".";
        keys.push_back({info.key, help});
    });
    return keys;
}

std::vector<YamlKey>
PlanKeyHelps()
{
    ParallelPlan plan = DefaultPlan();
    PlanKeys values(plan);
    std::vector<YamlKey> keys = KeysOfComponent(values);
    keys.insert(keys.begin(),
                {"framework",
                 "Training framework: a name of `weir list frameworks` or a file, whose values "
                 "apply to absent keys; megatron-lm where absent."});
    keys.push_back(
        {"tensorShape",
         "Shape of the tensor-parallel ranks: [tensor], [q, q] (2-D) or [q, q, d] (2.5-D)."});
    keys.push_back({"expertLoad",
                    "Distribution of tokens over experts, with the keys of parallel.expertLoad."});
    return keys;
}

std::string
QuantityOf(NodeCostUnit unit)
{
    switch (unit)
    {
    case NodeCostUnit::Microseconds:
        return "a time, in us";
    case NodeCostUnit::GBps:
        return "a rate, in GB/s";
    case NodeCostUnit::Bytes:
        return "a size, in bytes";
    case NodeCostUnit::Factor:
        break;
    }
    return "a factor";
}

std::vector<YamlKey>
CostKeys()
{
    std::vector<YamlKey> keys;
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        std::ostringstream help;
        help << QuantityOf(figure.unit) << " from " << figure.min << " to " << figure.max;
        keys.push_back({figure.key, help.str()});
    }
    return keys;
}

/**
 * The keys of all YAML files: YamlKeyMaps(), and the keys that components describe: fabric kinds,
 * routing policies, parallel plans, packets, congestion controls, costs of nodes, NCCL settings,
 * sharing and corrections. Their help texts end with default and source.
 */
std::vector<YamlKeyMap>
DescribeKeys()
{
    std::vector<YamlKeyMap> maps = YamlKeyMaps();
    maps.push_back(
        {"parallel", "The parallel plan of a training job, in `parallel`", PlanKeyHelps()});
    maps.push_back({"costs",
                    "Per-message and per-step costs, in `costs` of a GPU or `node.costs` of a "
                    "system, each {value, source}; `weir show system` prints the defaults",
                    CostKeys()});
    for (Polymorphic<FabricKind> kind : FabricKinds())
    {
        maps.push_back({std::string("system.fabric, kind ") + kind->Name(),
                        kind->Description(),
                        KeysOfComponent(*kind)});
    }
    for (Polymorphic<RoutingPolicy> policy : RoutingPolicies())
    {
        maps.push_back({std::string("system.fabric, routing ") + policy->Name(),
                        policy->Description(),
                        KeysOfComponent(*policy)});
    }
    PacketSpec packets;
    maps.push_back({"network (packets)",
                    "Packet settings, in `network` of a run or the file of --network",
                    KeysOfComponent(packets)});
    for (const auto& [key, part] : packets.Parts())
    {
        std::vector<YamlKey> keys = KeysOfComponent(*part);
        if (part == &packets.switches)
        {
            keys.insert(keys.begin(),
                        {"base",
                         "Switch model: a name of `weir list switches` or a file, whose values "
                         "apply to absent keys; `switch: NAME` sets only this key."});
        }
        maps.push_back({std::string("network.") + key,
                        std::string("Packet settings: `") + key + "` of `network`",
                        std::move(keys)});
    }
    for (Polymorphic<CongestionControl> control : CongestionControls())
    {
        std::vector<YamlKey> keys = KeysOfComponent(*control);
        keys.insert(keys.begin(), {"kind", control->Name()});
        maps.push_back({std::string("network.congestionControl, kind ") + control->Name(),
                        control->Description(),
                        std::move(keys)});
    }
    CouplingSpec coupling;
    maps.push_back({"network.coupling",
                    "Link sharing between packets and fluid, in fidelity hybrid",
                    KeysOfComponent(coupling)});
    NcclSettings nccl;
    maps.push_back({"network.nccl, settings",
                    "Settings of NCCL's environment, in `nccl` of `network`",
                    KeysOfComponent(nccl)});
    SharingSpec sharing;
    maps.push_back({"network.sharing",
                    "Accuracy of fluid link sharing, in fidelity stream, flow and hybrid",
                    KeysOfComponent(sharing)});
    CorrectionSpec corrections;
    for (const auto& [key, part] : corrections.Parts())
    {
        maps.push_back({std::string("network.corrections.") + key,
                        std::string("Corrections of fluid flows: `") + key + "`",
                        KeysOfComponent(*part)});
    }
    return maps;
}

using Json = nlohmann::ordered_json;

std::string
KeysAsJson()
{
    Json maps = Json::array();
    for (const YamlKeyMap& map : DescribeKeys())
    {
        Json keys = Json::array();
        for (const YamlKey& key : map.keys)
        {
            keys.push_back({{"key", key.name}, {"help", key.help}});
        }
        maps.push_back({{"map", map.name}, {"help", map.help}, {"keys", keys}});
    }
    return maps.dump(2) + "\n";
}

/** The attributes of ns-3 objects; an empty array in a build without ns-3. */
std::string
AttributesAsJson()
{
    Json types = Json::array();
#ifdef WEIR_WITH_NS3
    const auto list = [](const std::vector<ns3::ObjectMember>& members) {
        Json items = Json::array();
        for (const ns3::ObjectMember& member : members)
        {
            items.push_back({{"name", member.name},
                             {"help", member.help},
                             {"type", member.type},
                             {"initial", member.initial}});
        }
        return items;
    };
    for (const ns3::ObjectType& type : ns3::DescribeObjectTypes())
    {
        types.push_back({{"type", type.name},
                         {"parent", type.parent},
                         {"attributes", list(type.attributes)},
                         {"traceSources", list(type.traceSources)}});
    }
#endif
    return types.dump(2) + "\n";
}

} // namespace

Command
AddReferenceCommand(CLI::App& application)
{
    auto* verb =
        application.add_subcommand("reference",
                                   "Print the keys, options and attributes in machine-readable "
                                   "form, as manual page or as shell completion");
    auto what = std::make_shared<std::string>();
    verb->add_option("WHAT",
                     *what,
                     "keys (of YAML files), options or attributes (of ns-3 objects, with trace "
                     "sources) as JSON; man: the manual page; bash: the completion script")
        ->required();
    verb->footer(
        "Examples:\n"
        "  weir reference man | man -l -\n"
        "  source <(weir reference bash)\n"
        "  weir reference keys");
    return {verb, [what, &application] {
                const std::vector<std::pair<std::string, std::function<std::string()>>> printers{
                    {"keys", KeysAsJson},
                    {"options", [&application] { return OptionsAsJson(application); }},
                    {"attributes", AttributesAsJson},
                    {"man", [&application] { return ManPage(application); }},
                    {"bash", [&application] { return BashCompletion(application); }}};
                std::vector<std::string> names;
                for (const auto& [name, print] : printers)
                {
                    if (name == *what)
                    {
                        std::cout << print();
                        return ExitCode::Done;
                    }
                    names.push_back(name);
                }
                throw InputError("found '" + *what + "', expected one of: " + JoinNames(names) +
                                 DidYouMean(*what, names));
            }};
}

} // namespace weir
