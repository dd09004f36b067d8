// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/sweep/case-store.h"

#include "scenarios/results/output-file.h"
#include "scenarios/versions.h"
#include "scenarios/yaml/input-error.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace weir
{
namespace
{

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/** A 64-bit hash in hexadecimal. */
std::string
HashOf(const std::string& text)
{
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016zx", std::hash<std::string>()(text));
    return digits;
}

/** The content of a file; nothing where it cannot be read. */
std::optional<std::string>
ContentOf(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file || fs::is_directory(path))
    {
        return std::nullopt;
    }
    return std::string(std::istreambuf_iterator<char>(file), {});
}

} // namespace

CaseStore::CaseStore(std::string folder)
    : m_folder(std::move(folder))
{
}

void
CaseStore::MakeFolder() const
{
    std::error_code error;
    fs::create_directory(m_folder, error);
    if (error)
    {
        throw InputError("--output: cannot create the folder '" + m_folder + "' (" +
                         error.message() + "), expected a writable folder for finished cases");
    }
}

std::string
CaseStore::PathOf(const std::vector<std::string>& words, const std::string& runFolder) const
{
    std::string line = runFolder;
    for (const std::string& word : words)
    {
        line += '\0' + word;
    }
    return (fs::path(m_folder) / (HashOf(line) + ".json")).string();
}

std::optional<EndedCase>
CaseStore::Find(const std::vector<std::string>& words, const std::string& runFolder) const
{
    const auto text = ContentOf(PathOf(words, runFolder));
    const Json kept = text ? Json::parse(*text, nullptr, false) : Json();
    try
    {
        if (kept.is_null() || kept.is_discarded() || kept.at("weir_version") != WeirVersion() ||
            kept.at("words") != Json(words) || kept.at("folder") != runFolder)
        {
            return std::nullopt;
        }
        EndedCase outcome;
        for (const auto& [path, state] : kept.at("files").items())
        {
            if (state != FileState(path))
            {
                return std::nullopt;
            }
            outcome.files.push_back({path, state});
        }
        outcome.exit = kept.at("exit").get<int>();
        outcome.message = kept.at("message").get<std::string>();
        outcome.output = kept.at("output").get<std::string>();
        outcome.notes = kept.at("notes").get<std::vector<std::string>>();
        return outcome;
    }
    catch (const Json::exception& /* not a file of this store */)
    {
        return std::nullopt;
    }
}

void
CaseStore::Keep(const std::vector<std::string>& words,
                const std::string& runFolder,
                const EndedCase& outcome) const
{
    Json files = Json::object();
    for (const FileRead& file : outcome.files)
    {
        files[file.path] = file.state;
    }
    const Json kept{{"weir_version", WeirVersion()},
                    {"folder", runFolder},
                    {"words", words},
                    {"files", files},
                    {"exit", outcome.exit},
                    {"message", outcome.message},
                    {"notes", outcome.notes},
                    {"output", outcome.output}};
    OutputFile(PathOf(words, runFolder), "--output", TextFormat())
        .Save(kept.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void
CaseStore::Remove(const std::vector<std::string>& words, const std::string& runFolder) const
{
    std::error_code ignored;
    fs::remove(PathOf(words, runFolder), ignored);
}

void
CaseStore::RemoveFolder() const
{
    std::error_code ignored;
    fs::remove(m_folder, ignored); // fails if it is not empty
}

} // namespace weir
