// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/output-file.h"

#include "scenarios/yaml/input-error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace weir
{

OutputFile::OutputFile(std::string path, const std::string& what)
    : m_path(std::move(path)),
      m_temporaryPath(m_path + ".partial-" + std::to_string(::getpid()))
{
    std::error_code ignored;
    if (m_path.empty() || std::filesystem::is_directory(m_path, ignored))
    {
        throw InputError(what + ": cannot write '" + m_path + "': it is a folder, expected a file");
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

void
OutputFile::Commit()
{
    if (std::rename(m_temporaryPath.c_str(), m_path.c_str()) != 0)
    {
        throw std::runtime_error("cannot rename '" + m_temporaryPath + "' to '" + m_path +
                                 "': " + std::strerror(errno));
    }
    m_committed = true;
}

} // namespace weir
