// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SWEEP_CASE_PROCESSES_H
#define WEIR_SCENARIOS_SWEEP_CASE_PROCESSES_H

#include "scenarios/yaml/text-file.h"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace weir
{

/** The outcome of a case of a sweep. */
struct EndedCase
{
    int exit{0};                      //!< exit code as a shell has it: 128 + n after signal n
    std::string output{};             //!< standard output: one JSON object when the exit code is 0
    std::string message{};            //!< last line of standard error, without "weir: "
    std::vector<std::string> notes{}; //!< notes on standard error, without "weir: note: "
    std::vector<FileRead> files{};    //!< files read, including the program itself
};

/**
 * Runs each command in its own process, so that one that fails, aborts or takes too much memory
 * does not affect the others. The processes end with this one.
 */
class CaseProcesses
{
  public:
    /** Runs a command line; prints, and returns the exit code. */
    using Command = std::function<int(const std::vector<std::string>& words)>;

    /** @param folder in which commands run */
    CaseProcesses(Command command, std::string folder);

    /** Terminates the running processes. */
    ~CaseProcesses();
    CaseProcesses(const CaseProcesses&) = delete;
    CaseProcesses& operator=(const CaseProcesses&) = delete;

    /**
     * Starts a command.
     * @param number identifies the command in TakeEnded
     * @throws std::runtime_error when the system cannot start a process.
     */
    void Start(std::size_t number, const std::vector<std::string>& words);

    std::size_t Running() const
    {
        return m_running.size();
    }

    /** The commands that have ended since the last call, with their numbers. Does not wait. */
    std::vector<std::pair<std::size_t, EndedCase>> TakeEnded();

  private:
    struct Process
    {
        std::size_t number;
        pid_t id;
        int output; //!< in-memory files, as are the next two
        int errors;
        int files;
    };

    static EndedCase OutcomeOf(const Process& process, int status);
    static void Close(const Process& process);

    Command m_command;
    std::string m_folder;
    std::vector<Process> m_running;
};

} // namespace weir

#endif // WEIR_SCENARIOS_SWEEP_CASE_PROCESSES_H
