// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/python-package.h"

#include "scenarios/data-folders.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace weir
{

namespace
{

namespace fs = std::filesystem;

constexpr int CANNOT_RUN = 127; //!< as shells have it
constexpr const char* PROGRAM = "/weir-report";

/** What a program printed and how it ended. */
struct Answer
{
    int exit;
    std::string text;
};

/** Runs @p program with @p argument, its standard error shut; no shell is between. */
Answer
Ask(const std::string& program, const std::string& argument)
{
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0)
    {
        throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
    const pid_t child = ::fork();
    if (child < 0)
    {
        throw std::runtime_error(std::string("cannot start a process: ") + std::strerror(errno));
    }
    if (child == 0)
    {
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(STDERR_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        ::execlp(program.c_str(), program.c_str(), argument.c_str(), nullptr);
        ::_exit(CANNOT_RUN);
    }
    ::close(ends[1]);
    std::string text;
    std::array<char, 256> part{};
    for (ssize_t count; (count = ::read(ends[0], part.data(), part.size())) != 0;)
    {
        if (count < 0 && errno != EINTR)
        {
            break;
        }
        text.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
    {
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : CANNOT_RUN, text};
}

/** Lets signals that end a process wait, until the package's program is ready for them. */
void
HoldSignals()
{
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    {
        ::sigaddset(&signals, signal);
    }
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
}

/** The folder of the package: of an installation's data, or of the source tree's scripts. */
std::string
FindFolder()
{
    std::string searched;
    for (const fs::path data : DataFolders())
    {
        for (const fs::path& folder : {data / "python", data.parent_path() / "scripts" / "python"})
        {
            std::error_code error;
            if (fs::is_regular_file(folder.string() + PROGRAM, error))
            {
                return folder.string();
            }
        }
        searched += (searched.empty() ? "'" : ", '") + data.string() + "'";
    }
    throw std::runtime_error("found no Python package of Weir, expected python/ in one of " +
                             searched);
}

/** "h5py, pandas" of one a line. */
std::string
JoinLines(std::string text)
{
    while (!text.empty() && text.back() == '\n')
    {
        text.pop_back();
    }
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    {
        text.replace(at, 1, ", ");
    }
    return text;
}

/** The interpreter that has every module of the package in @p folder. */
std::string
FindInterpreter(const std::string& folder)
{
    const char* chosen = std::getenv("WEIR_PYTHON");
    const std::vector<std::string> candidates =
        chosen != nullptr ? std::vector<std::string>{chosen}
                          : std::vector<std::string>{"python3", "/usr/bin/python3"};
    const std::string modules = folder + "/weir/requirements.py";
    std::string lacking;
    for (const auto& candidate : candidates)
    {
        const Answer answer = Ask(candidate, modules);
        if (answer.exit == 0)
        {
            return candidate;
        }
        if (answer.exit != CANNOT_RUN)
        {
            lacking = "found '" + candidate + "' without " + JoinLines(answer.text);
        }
    }
    if (lacking.empty())
    {
        lacking = "found no '" + candidates.front() + "' that runs";
    }
    throw std::runtime_error(lacking +
                             ", expected what 'scripts/install-packages report' installs");
}

} // namespace

PythonPackage::PythonPackage()
    : m_folder(FindFolder())
{
    HoldSignals();
    m_interpreter = FindInterpreter(m_folder);
}

void
PythonPackage::Become(const std::string& request) const
{
    const std::string program = m_folder + PROGRAM;
    const char* interpreter = m_interpreter.c_str();
    ::execlp(interpreter, interpreter, program.c_str(), request.c_str(), nullptr);
    throw std::runtime_error("cannot start '" + m_interpreter + "': " + std::strerror(errno));
}

} // namespace weir
