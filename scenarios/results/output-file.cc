// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/output-file.h"

#include "scenarios/yaml/input-error.h"

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

/** What @p path leads to, where it is a link to something. */
std::string
TargetOf(const std::string& path)
{
    std::error_code error;
    const bool isLink = std::filesystem::is_symlink(path, error);
    const auto target = std::filesystem::canonical(path, error);
    return isLink && !error ? target.string() : path;
}

} // namespace

OutputFile::OutputFile(std::string path, const std::string& what)
    : m_path(std::move(path)),
      m_temporaryPath(TemporaryName(m_path))
{
    std::error_code ignored;
    const auto status = std::filesystem::status(m_path, ignored);
    if (m_path.empty() || std::filesystem::is_directory(status))
    {
        throw InputError(what + ": cannot write '" + m_path + "': it is a folder, expected a file");
    }
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    {
        throw InputError(what + ": cannot write '" + m_path +
                         "': it is a device or a pipe, expected a file");
    }
    const int descriptor =
        ::open(m_temporaryPath.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
    {
        throw InputError(what + ": cannot write '" + m_path + "': " + std::strerror(errno));
    }
    ::close(descriptor);
}

OutputFile::~OutputFile()
{
    if (!m_committed)
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
    if (std::rename(m_temporaryPath.c_str(), TargetOf(m_path).c_str()) != 0)
    {
        throw std::runtime_error("cannot rename '" + m_temporaryPath + "' to '" + m_path +
                                 "': " + std::strerror(errno));
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
