// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_PYTHON_PACKAGE_H
#define WEIR_SCENARIOS_COMMAND_PYTHON_PACKAGE_H

#include <string>

namespace weir
{

/** Weir's Python package, in the source tree or installed, and an interpreter that has its modules.
 */
class PythonPackage
{
  public:
    /**
     * Finds both: the interpreter of WEIR_PYTHON where that is set, else the first of the path's
     * python3 and /usr/bin/python3 that has all modules. Signals that end a process wait from here
     * until the package's program takes them.
     * @throws std::runtime_error that names what is missing.
     */
    PythonPackage();

    /**
     * Replaces this process by the package's program with one argument, @p request.
     * @throws std::runtime_error when the interpreter cannot be started.
     */
    [[noreturn]] void Become(const std::string& request) const;

  private:
    std::string m_folder; //!< what holds the package "weir"
    std::string m_interpreter;
};

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_PYTHON_PACKAGE_H
