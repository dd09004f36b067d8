// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_COMMANDS_H
#define WEIR_SCENARIOS_COMMAND_COMMANDS_H

#include <functional>
#include <string>
#include <vector>

namespace CLI
{
class App;
} // namespace CLI

namespace weir
{

/** Exit code of the process. */
enum class ExitCode : int
{
    Done = 0,
    CheckFailed = 1, //!< a check failed, or a run could not finish
    WrongInput = 2
};

/** The exit codes, for help texts: those of ExitCode and the one of EndInterrupted. */
constexpr const char* EXIT_CODES =
    "0 success, 1 failed check, 2 invalid input, 130 interrupted (Ctrl-C).";

/** A verb of the command line, and the function that runs it once its options are parsed. */
struct Command
{
    CLI::App* options; //!< owned by the application
    std::function<ExitCode()> run;
};

Command AddRunCommand(CLI::App& application);
Command AddCalibrateCommand(CLI::App& application);
Command AddCollectiveCommand(CLI::App& application);
Command AddFlowsCommand(CLI::App& application);
Command AddGraphCommand(CLI::App& application);
Command AddImportCommand(CLI::App& application);
Command AddKernelCommand(CLI::App& application);
Command AddListCommand(CLI::App& application);
Command AddReferenceCommand(CLI::App& application);
Command AddReportCommand(CLI::App& application);
Command AddShowCommand(CLI::App& application);
/** @param command runs a command line of another verb */
Command AddSearchCommand(CLI::App& application,
                         std::function<int(const std::vector<std::string>&)> command);
/** @param command as above */
Command AddSweepCommand(CLI::App& application,
                        std::function<int(const std::vector<std::string>&)> command);
Command AddTopologyCommand(CLI::App& application);
Command AddValidateCommand(CLI::App& application);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_COMMANDS_H
