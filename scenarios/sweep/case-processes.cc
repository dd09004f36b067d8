// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/sweep/case-processes.h"

#include "scenarios/yaml/text-file.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

namespace weir
{
namespace
{

constexpr int SIGNAL_BASE = 128; //!< exit code of a process ended by signal n: this + n

/** The whole content of an in-memory file. */
std::string
TextOf(int file)
{
    std::string text;
    std::array<char, 65536> piece;
    ::lseek(file, 0, SEEK_SET);
    for (ssize_t count = 0; (count = ::read(file, piece.data(), piece.size())) > 0;)
    {
        text.append(piece.data(), static_cast<std::size_t>(count));
    }
    return text;
}

/** Separates notes from the message in the standard error of a case. */
void
ReadErrors(const std::string& errors, EndedCase& ended)
{
    const auto without = [](const std::string& start, const std::string& line) {
        return line.compare(0, start.size(), start) == 0 ? line.substr(start.size()) : line;
    };
    std::istringstream lines(errors);
    for (std::string line; std::getline(lines, line);)
    {
        const std::string note = without("weir: note: ", line);
        if (note != line)
        {
            ended.notes.push_back(note);
        }
        else if (!line.empty())
        {
            ended.message = without("weir: ", line);
        }
    }
}

void
Write(int file, const std::string& text)
{
    for (std::size_t done = 0; done < text.size();)
    {
        const ssize_t count = ::write(file, text.data() + done, text.size() - done);
        if (count <= 0)
        {
            return;
        }
        done += static_cast<std::size_t>(count);
    }
}

} // namespace

CaseProcesses::CaseProcesses(Command command, std::string folder)
    : m_command(std::move(command)),
      m_folder(std::move(folder))
{
    std::signal(SIGCHLD,
                SIG_DFL); // where a parent ignored it, ended processes would leave no trace
}

CaseProcesses::~CaseProcesses()
{
    for (const Process& process : m_running)
    {
        ::kill(process.id, SIGTERM); // as Ctrl-C: unfinished files are removed
    }
    for (const Process& process : m_running)
    {
        int status = 0;
        while (::waitpid(process.id, &status, 0) < 0 && errno == EINTR)
        {
        }
        Close(process);
    }
}

void
CaseProcesses::Close(const Process& process)
{
    for (const int file : {process.output, process.errors, process.files})
    {
        if (file >= 0)
        {
            ::close(file);
        }
    }
}

void
CaseProcesses::Start(std::size_t number, const std::vector<std::string>& words)
{
    Process process{number,
                    -1,
                    ::memfd_create("output", MFD_CLOEXEC),
                    ::memfd_create("errors", MFD_CLOEXEC),
                    ::memfd_create("files", MFD_CLOEXEC)};
    std::cout.flush();
    std::cerr.flush();
    const pid_t parent = ::getpid();
    const bool hasFiles = process.output >= 0 && process.errors >= 0 && process.files >= 0;
    process.id = hasFiles ? ::fork() : -1;
    if (process.id < 0)
    {
        const std::string reason = std::strerror(errno);
        Close(process);
        throw std::runtime_error("cannot start a process: " + reason);
    }
    if (process.id > 0)
    {
        m_running.push_back(process);
        return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    int exit = SIGNAL_BASE + SIGKILL;
    if (::getppid() == parent && ::dup2(process.output, STDOUT_FILENO) >= 0 &&
        ::dup2(process.errors, STDERR_FILENO) >= 0 && ::chdir(m_folder.c_str()) == 0)
    {
        ForgetFilesRead();
        exit = m_command(words);
    }
    std::cout.flush();
    std::cerr.flush();
    std::fflush(nullptr);
    std::error_code ignored;
    NoteFileRead(std::filesystem::read_symlink("/proc/self/exe", ignored).string());
    std::string files;
    for (const FileRead& file : FilesRead())
    {
        files += file.state + " " + file.path + "\n";
    }
    Write(process.files, files);
    ::_exit(exit);
}

EndedCase
CaseProcesses::OutcomeOf(const Process& process, int status)
{
    EndedCase outcome;
    outcome.exit = WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
    outcome.output = TextOf(process.output);
    ReadErrors(TextOf(process.errors), outcome);
    if (outcome.message.empty() && WIFSIGNALED(status))
    {
        outcome.message =
            std::string("ended by the signal '") + ::strsignal(WTERMSIG(status)) + "'";
    }
    std::istringstream files(TextOf(process.files));
    for (std::string file; std::getline(files, file);)
    {
        const auto blank = file.find(' ');
        outcome.files.push_back({file.substr(blank + 1), file.substr(0, blank)});
    }
    return outcome;
}

std::vector<std::pair<std::size_t, EndedCase>>
CaseProcesses::TakeEnded()
{
    std::vector<std::pair<std::size_t, EndedCase>> ended;
    for (std::size_t i = 0; i < m_running.size();)
    {
        const Process process = m_running[i];
        int status = 0;
        if (::waitpid(process.id, &status, WNOHANG) != process.id)
        {
            i++;
            continue;
        }
        ended.emplace_back(process.number, OutcomeOf(process, status));
        Close(process);
        m_running.erase(m_running.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return ended;
}

} // namespace weir
