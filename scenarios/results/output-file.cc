// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/output-file.h"

#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace weir
{

namespace
{

/**
 * The path by which this process opens a file descriptor again, whether the file has a name or not.
 */
std::string
PathOfOpen(int descriptor)
{
    return "/proc/self/fd/" + std::to_string(descriptor);
}

/**
 * Follows the symbolic links of @p path to their target, whether that exists or not.
 * @throws InputError after MAX_LINKS links.
 */
std::string
TargetOf(const std::string& path)
{
    constexpr int MAX_LINKS = 40; // Linux's limit
    std::filesystem::path target = path;
    std::error_code error;
    for (int links = 0; std::filesystem::is_symlink(target, error); links++)
    {
        if (links == MAX_LINKS)
        {
            throw InputError(path + ": found a cycle of symbolic links, expected a file");
        }
        const auto next = std::filesystem::read_symlink(target, error);
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    return target.string();
}

/** Whether @p format may replace the regular file at @p path. */
bool
IsReplaceable(const std::string& path, const OutputFormat& format)
{
    constexpr std::size_t LONGEST = 64;
    std::ifstream file(path, std::ios::binary);
    std::string start(LONGEST, '\0');
    file.read(start.data(), LONGEST);
    start.resize(static_cast<std::size_t>(file.gcount()));
    return start.empty() || format.beginnings.empty() ||
           std::any_of(format.beginnings.begin(),
                       format.beginnings.end(),
                       [&start](const std::string& beginning) {
                           return start.compare(0, beginning.size(), beginning) == 0;
                       });
}

/**
 * Opens an unnamed file on the file system of @p path; it disappears with the process.
 * @return -1 where the file system does not support unnamed files.
 */
int
OpenNameless(const std::string& path)
{
#ifdef O_TMPFILE
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const int descriptor =
        ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor >= 0 && ::access(PathOfOpen(descriptor).c_str(), W_OK) == 0)
    {
        return descriptor;
    }
    if (descriptor >= 0)
    {
        ::close(descriptor);
    }
#else
    static_cast<void>(path);
#endif
    return -1;
}

/** Gives the unnamed open file at @p path the name @p name. @return whether it succeeded */
bool
NameOpen(const std::string& path, const std::string& name)
{
    ::unlink(name.c_str()); // left by an earlier process with the same process ID
    return ::linkat(AT_FDCWD, path.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

} // namespace

OutputFile::OutputFile(std::string path, const std::string& what, const OutputFormat& format)
    : m_path(std::move(path)),
      m_temporaryPath(TemporaryName(m_path))
{
    std::error_code ignored;
    const auto status = std::filesystem::status(m_path, ignored);
    if (m_path.empty() || std::filesystem::is_directory(status))
    {
        throw InputError(what + ": found '" + m_path + "', which is a folder, expected a file");
    }
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    {
        throw InputError(what + ": found '" + m_path +
                         "', which is a device or a pipe, expected a file");
    }
    if (std::filesystem::exists(status) && !IsReplaceable(m_path, format))
    {
        throw InputError(what + ": found '" + m_path + "', which is no " + format.name +
                         " that weir has written, expected another name");
    }
    m_nameless = OpenNameless(m_temporaryPath);
    if (m_nameless >= 0)
    {
        m_temporaryPath = PathOfOpen(m_nameless);
        return;
    }
    const int descriptor =
        ::open(m_temporaryPath.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
    {
        throw InputError(what + ": found '" + m_path + "', which cannot be written (" +
                         std::strerror(errno) + "), expected a file that can");
    }
    ::close(descriptor);
}

OutputFile::~OutputFile()
{
    if (m_nameless >= 0)
    {
        ::close(m_nameless);
    }
    else if (!m_committed)
    {
        std::remove(m_temporaryPath.c_str());
    }
}

std::string
OutputFile::TemporaryName(const std::string& path)
{
    return TargetOf(path) + ".partial-" + std::to_string(::getpid());
}

void
OutputFile::Save(const std::string& text)
{
    errno = 0;
    std::ofstream out(m_temporaryPath, std::ios::binary);
    out << text;
    out.close();
    if (!out)
    {
        throw std::runtime_error("cannot write '" + m_path + "'" +
                                 (errno == 0 ? "" : std::string(": ") + std::strerror(errno)));
    }
    Commit();
}

void
OutputFile::Commit()
{
    const std::string name = TemporaryName(m_path);
    if ((m_nameless >= 0 && !NameOpen(m_temporaryPath, name)) ||
        std::rename(name.c_str(), TargetOf(m_path).c_str()) != 0)
    {
        const std::string why = std::strerror(errno);
        std::remove(name.c_str());
        throw std::runtime_error("cannot write '" + m_path + "': " + why);
    }
    m_committed = true;
}

void
ExpectOtherFile(const std::string& what,
                const std::string& path,
                const std::string& otherWhat,
                const std::string& other)
{
    namespace fs = std::filesystem;
    if (path.empty() || other.empty())
    {
        return;
    }
    std::error_code ignored;
    if (fs::weakly_canonical(fs::absolute(path, ignored), ignored) ==
            fs::weakly_canonical(fs::absolute(other, ignored), ignored) ||
        fs::equivalent(path, other, ignored))
    {
        throw InputError(what + ": found '" + path + "', expected another file than the " +
                         otherWhat + " '" + other + "'");
    }
}

} // namespace weir
