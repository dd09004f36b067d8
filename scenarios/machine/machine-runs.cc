// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/machine/machine-runs.h"

#include "collectives/nccl/nccl-settings.h"
#include "fabric/parameters/parameter-visitor.h"
#include "scenarios/machine/nccl-tests-file.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/yaml-writer.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <sstream>

namespace weir
{

namespace
{

/** The keys allowed in FILE:key=value: those of a run without name and system. */
std::vector<std::string>
SettingKeys()
{
    std::vector<std::string> keys = YamlKeysOf("suite.collectives");
    NcclSettings settings;
    const std::vector<std::string> ofSettings = KeysOf(settings);
    keys.insert(keys.end(), ofSettings.begin(), ofSettings.end());
    keys.erase(
        std::remove_if(keys.begin(),
                       keys.end(),
                       [](const std::string& key) { return key == "name" || key == "system"; }),
        keys.end());
    return keys;
}

const std::string*
Find(const RunSettings& settings, const std::string& key)
{
    const auto found = std::find_if(
        settings.begin(), settings.end(), [&](const auto& each) { return each.first == key; });
    return found == settings.end() ? nullptr : &found->second;
}

/** The properties that the file gives for its run. */
RunSettings
SaidBy(const NcclTestsRun& run)
{
    RunSettings settings;
    const auto add = [&settings](const char* key, const auto& value, const auto& toText) {
        if (value)
        {
            settings.emplace_back(key, toText(*value));
        }
    };
    const auto toName = [](auto value) { return ToString(value); };
    const auto toNumber = [](uint32_t value) { return std::to_string(value); };
    add("op", run.op, toName);
    add("nodes", run.nodes, toNumber);
    add("gpusPerNode", run.gpusPerNode, toNumber);
    add("nccl", run.ncclVersion, [](const std::string& version) { return version; });
    add("launch", run.launch, toName);
    return settings;
}

/** @throws InputError where @p argument contradicts the file's properties of @p run. */
void
CheckAgreement(const RunArgument& argument, const RunSettings& said, const NcclTestsRun& run)
{
    for (const auto& [key, where] : {std::pair("op", run.opWhere),
                                     std::pair("nodes", run.devicesWhere),
                                     std::pair("gpusPerNode", run.devicesWhere)})
    {
        const std::string* asked = Find(argument.settings, key);
        const std::string* found = Find(said, key);
        if (!where.empty() && asked != nullptr && found != nullptr && *asked != *found)
        {
            throw InputError(where + ": found " + key + " " + *found + ", expected the " + *asked +
                             " of --from " + argument.file + ":" + key + "=" + *asked);
        }
    }
}

/** The model in a GPU's name: "H100" in "NVIDIA H100 80GB HBM3" and "h100-sxm"; empty: none. */
std::string
ModelOf(std::string gpu)
{
    std::transform(gpu.begin(), gpu.end(), gpu.begin(), [](unsigned char letter) {
        return static_cast<char>(std::toupper(letter));
    });
    std::smatch found;
    return std::regex_search(gpu, found, std::regex(R"(\b[A-Z]{1,2}\d{2,4}[A-Z]?\b)")) ? found.str()
                                                                                       : "";
}

/** @throws InputError where @p run used a GPU other than @p gpu, that of @p system. */
void
CheckGpus(const NcclTestsRun& run, const std::string& gpu, const std::string& system)
{
    const std::string model = ModelOf(gpu);
    for (const auto& [name, where] : run.gpus)
    {
        const std::string other = ModelOf(name);
        if (!model.empty() && !other.empty() && model != other)
        {
            throw InputError(where + ": found '" + name + "', expected the " + gpu +
                             " of --system " + system);
        }
    }
}

} // namespace

RunArgument
ParseRunArgument(const std::string& text)
{
    const auto equals = text.find('=');
    const auto colon = equals == std::string::npos ? equals : text.rfind(':', equals);
    if (colon == std::string::npos)
    {
        return {text, {}};
    }
    RunArgument argument{text.substr(0, colon), {}};
    std::istringstream settings(text.substr(colon + 1));
    for (std::string setting; std::getline(settings, setting, ',');)
    {
        const auto split = setting.find('=');
        const std::string key = setting.substr(0, split);
        const auto keys = SettingKeys();
        if (split == std::string::npos || !IsAmong(key, keys))
        {
            throw InputError("--from " + text + ": found '" + setting +
                             "', expected key=value with one of the keys: " + JoinNames(keys) +
                             DidYouMean(key, keys));
        }
        if (Find(argument.settings, key) != nullptr)
        {
            throw InputError("--from " + text + ": found " + key + " again, expected it once");
        }
        argument.settings.emplace_back(key, setting.substr(split + 1));
    }
    return argument;
}

std::vector<MeasuredCollective>
ReadMachineRuns(const RunArgument& argument,
                const std::string& system,
                const RunSettings& defaults,
                const Catalog& catalog)
{
    const std::string gpu =
        ReadSystem(YamlNode::ParseArgument(system, "--system"), catalog).gpu.name;
    std::vector<MeasuredCollective> runs;
    for (const NcclTestsRun& found : ReadNcclTests(argument.file))
    {
        const RunSettings said = SaidBy(found);
        CheckAgreement(argument, said, found);
        CheckGpus(found, gpu, system);
        YamlWriter text;
        text.Text("name", std::filesystem::path(argument.file).stem().string());
        text.Text("system", system);
        for (const std::string& key : SettingKeys())
        {
            for (const RunSettings* settings : {&argument.settings, &said, &defaults})
            {
                if (const std::string* value = Find(*settings, key))
                {
                    text.Text(key.c_str(), *value);
                    break;
                }
            }
        }
        const YamlNode node = YamlNode::ParseArgument(text.GetText(), "--from " + argument.file);
        for (const char* key : {"op", "nodes"})
        {
            if (!node.Has(key))
            {
                throw InputError("--from " + argument.file + ": found no " + key +
                                 " in it, expected --" + key + " or " + argument.file + ":" + key +
                                 "=...");
            }
        }
        MeasuredCollective run = ReadMeasuredRun(node, catalog);
        run.sweep.sizes = found.sizes;
        run.measured = found.seconds;
        runs.push_back(std::move(run));
    }
    return runs;
}

} // namespace weir
