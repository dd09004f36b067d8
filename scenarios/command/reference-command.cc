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
#include "scenarios/yaml/mapped.h"
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

/** "-o", "--output"; of a positional argument its name. */
std::vector<std::string>
NamesOf(const CLI::Option& option)
{
    if (option.get_positional())
    {
        return {option.get_name(true)};
    }
    auto names =
        Mapped<std::string>(option.get_snames(), [](const auto& name) { return "-" + name; });
    for (const std::string& name : option.get_lnames())
    {
        names.push_back("--" + name);
    }
    return names;
}

/** "FILE"; empty: a flag or a positional argument. */
std::string
ValueOf(const CLI::Option& option)
{
    const bool hasValue = !option.get_positional() && option.get_items_expected_max() > 0;
    const std::string type = hasValue ? option.get_type_name() : "";
    return type.substr(0, type.find(':')); // without the range of "UINT:INT in [1 - 64]"
}

/** A verb with its name, "kernel gemm"; the program itself has an empty name. */
using NamedVerb = std::pair<std::string, const CLI::App*>;

/** @p app, which has the given name, then every verb below it. */
std::vector<NamedVerb>
Verbs(const CLI::App& app, const std::string& name = "")
{
    std::vector<NamedVerb> verbs{{name, &app}};
    for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    {
        const auto below = Verbs(*each, (name.empty() ? "" : name + " ") + each->get_name());
        verbs.insert(verbs.end(), below.begin(), below.end());
    }
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
PrintRoff(std::ostream& out, const CLI::Option& option)
{
    const std::string value = ValueOf(option);
    const std::string byDefault = option.get_default_str();
    out << ".TP\n\\fB" << Roff(JoinNames(NamesOf(option))) << "\\fR"
        << (value.empty() ? "" : " \\fI" + Roff(value) + "\\fR") << "\n"
        << Roff(option.get_description()) << (byDefault.empty() ? "" : " [" + Roff(byDefault) + "]")
        << "\n";
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
    for (const auto& [name, verb] : Verbs(application))
    {
        out << (name.empty() ? ".SH OPTIONS\n"
                             : ".SH \"WEIR " + Roff(Upper(name)) + "\"\n" +
                                   Roff(verb->get_description()) + "\n");
        for (const CLI::Option* option : verb->get_options())
        {
            PrintRoff(out, *option);
        }
        if (const std::string footer = verb->get_footer(); !footer.empty())
        {
            out << ".PP\n.nf\n" << Roff(footer) << "\n.fi\n";
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

/** The values of the option @p name of @p verb; empty: any text, such as the name of a file. */
std::vector<std::string>
ValuesOf(const std::string& name, const std::string& verb)
{
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
ValueCases(const std::vector<NamedVerb>& verbs)
{
    std::string cases;
    std::string ofAnyText;
    for (const auto& [verb, app] : verbs)
    {
        for (const CLI::Option* option : app->get_options())
        {
            if (ValueOf(*option).empty())
            {
                continue;
            }
            const std::vector<std::string> names = NamesOf(*option);
            const std::vector<std::string> values = ValuesOf(names.back(), verb);
            const std::string patterns =
                "'" + verb + " " + JoinNames(names, "' | '" + verb + " ") + "'";
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
    for (const auto& [name, verb] : Verbs(application))
    {
        std::string words;
        for (const CLI::Option* option : verb->get_options())
        {
            words += option->get_positional() ? "" : NamesOf(*option).back() + " ";
        }
        for (const CLI::App* below : verb->get_subcommands([](const CLI::App*) { return true; }))
        {
            words += below->get_name() + " ";
        }
        cases << "        '" << name << "') words='" << words << "' ;;\n";
        verbNames += name.empty() ? "" : " '" + name + "'";
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
    for (const auto& [name, verb] : Verbs(application))
    {
        nlohmann::ordered_json options = nlohmann::ordered_json::array();
        for (const CLI::Option* option : verb->get_options())
        {
            options.push_back({{"names", NamesOf(*option)},
                               {"value", ValueOf(*option)},
                               {"default", option->get_default_str()},
                               {"help", option->get_description()},
                               {"required", option->get_required()}});
        }
        verbs.push_back({{"verb", name},
                         {"help", verb->get_description()},
                         {"footer", verb->get_footer()},
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
