// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/sweep/case-store.h"

#include "scenarios/results/output-file.h"
#include "scenarios/results/text-table.h"
#include "scenarios/versions.h"
#include "scenarios/yaml/input-error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <utility>

#include <sys/file.h>
#include <sys/stat.h>

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
    return FormatText("%016zx", std::hash<std::string>()(text));
}

/** How names of lock files begin. */
constexpr const char* LOCK = ".lock";

/** The lock files in @p folder. */
std::vector<fs::path>
LocksIn(const std::string& folder)
{
    std::vector<fs::path> locks;
    std::error_code error;
    for (const auto& file : fs::directory_iterator(folder, error))
    {
        if (file.path().filename().string().rfind(LOCK, 0) == 0)
        {
            locks.push_back(file.path());
        }
    }
    return locks;
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

CaseStore::~CaseStore()
{
    std::error_code ignored;
    if (m_share.descriptor >= 0)
    {
        fs::remove(m_share.path, ignored);
        ::close(m_share.descriptor);
    }
    if (m_store.descriptor >= 0)
    {
        // The last process removes what is left, also by processes that were killed.
        if (::flock(m_store.descriptor, LOCK_EX | LOCK_NB) == 0)
        {
            for (const fs::path& path : LocksIn(m_folder))
            {
                fs::remove(path, ignored);
            }
            fs::remove(m_folder, ignored); // fails if it is not empty
        }
        ::flock(m_store.descriptor, LOCK_UN); // cases that still run have the descriptor, too
        ::close(m_store.descriptor);
    }
}

/**
 * Opens and locks a file of the folder, which it creates. @return whether no other process has the
 * lock
 */
bool
CaseStore::TakeLock(Lock& lock, const std::string& name, bool isExclusive) const
{
    lock.path = (fs::path(m_folder) / (LOCK + name)).string();
    while (true)
    {
        std::error_code error;
        fs::create_directory(m_folder, error);
        if (error)
        {
            throw InputError("--output: cannot create the folder '" + m_folder + "' (" +
                             error.message() + "), expected a writable folder for finished cases");
        }
        lock.descriptor = ::open(lock.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock.descriptor < 0 && errno == ENOENT)
        {
            continue; // its last user has just removed the folder
        }
        if (lock.descriptor < 0)
        {
            throw InputError("--output: cannot write to the folder '" + m_folder + "' (" +
                             std::strerror(errno) +
                             "), expected a writable folder for finished "
                             "cases");
        }
        if (::flock(lock.descriptor, (isExclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 &&
            errno == EWOULDBLOCK)
        {
            ::close(std::exchange(lock.descriptor, -1));
            return false;
        }
        struct stat opened = {};
        struct stat named = {};
        if (::fstat(lock.descriptor, &opened) == 0 && ::stat(lock.path.c_str(), &named) == 0 &&
            opened.st_ino == named.st_ino)
        {
            return true;
        }
        ::close(std::exchange(lock.descriptor, -1)); // its last user has just removed it
    }
}

void
CaseStore::Claim(const ProcessShare& share)
{
    const bool isPart = share.count > 1;
    const std::string part = std::to_string(share.index + 1) + "-of-" + std::to_string(share.count);
    if (!TakeLock(m_store, "", !isPart) || (isPart && !TakeLock(m_share, "-" + part, true)))
    {
        throw InputError("--output: found another weir process that writes cases to '" + m_folder +
                         "', expected its end first, or another file");
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
    OutputFile(PathOf(words, runFolder), "--output", TEXT_FORMAT)
        .Save(kept.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void
CaseStore::Remove(const std::vector<std::string>& words, const std::string& runFolder) const
{
    std::error_code ignored;
    fs::remove(PathOf(words, runFolder), ignored);
}

} // namespace weir
