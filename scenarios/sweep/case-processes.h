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

/** How a case of a sweep ended. */
struct EndedCase
{
    int exit{0};                      //!< its exit code, as a shell has it
    std::string output{};             //!< what it printed: one JSON object when the exit code is 0
    std::string message{};            //!< the last line of its errors, without "weir: "
    std::vector<std::string> notes{}; //!< that it printed, without "weir: note: "
    std::vector<FileRead> files{};    //!< the program itself among them
};

/**
 * Commands in processes of their own, so that one that fails, aborts or takes too much memory takes
 * no other with it. They end with this process.
 */
class CaseProcesses
{
  public:
    /** Runs a command line, prints and returns the exit code. */
    using Command = std::function<int(const std::vector<std::string>& words)>;

    /** @param folder in which commands run */
    CaseProcesses(Command command, std::string folder);

    /** Ends what runs. */
    ~CaseProcesses();
    CaseProcesses(const CaseProcesses&) = delete;
    CaseProcesses& operator=(const CaseProcesses&) = delete;

    /**
     * Starts a command.
     * @param number by which TakeEnded tells it
     * @throws std::runtime_error when the system has no room for a process.
     */
    void Start(std::size_t number, const std::vector<std::string>& words);

    std::size_t Running() const
    {
        return m_running.size();
    }

    /** Those that have ended since, by number. Does not wait. */
    std::vector<std::pair<std::size_t, EndedCase>> TakeEnded();

  private:
    struct Process
    {
        std::size_t number;
        pid_t id;
        int output; //!< files in memory
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
