// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DATA_FOLDERS_H
#define WEIR_SCENARIOS_DATA_FOLDERS_H

#include <string>
#include <vector>

/** The data folder of the package that a program is compiled with: find_package(weir) defines it
 * from where it is found itself. */
#ifndef WEIR_DATA_FOLDER
#define WEIR_DATA_FOLDER ""
#endif

namespace weir
{

/**
 * The folders that hold what Weir ships, in the order in which they are searched: those of the
 * environment's WEIR_DATA_PATH (colons between), the installation that the program lies in, the
 * package it was compiled with, the source tree, the prefix that Weir was configured for.
 * @param packaged the package's; empty: where @p header says
 * @param header where the compiler found this header, which in a package says where that is
 */
std::vector<std::string> DataFolders(const std::string& packaged = WEIR_DATA_FOLDER,
                                     const std::string& header = __FILE__);

} // namespace weir

#endif // WEIR_SCENARIOS_DATA_FOLDERS_H
