// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace weir
{
namespace
{

namespace fs = std::filesystem;

/** PREFIX/share/weir of the running PREFIX/bin/NAME, wherever PREFIX was moved to. */
std::string
FolderBesideProgram()
{
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? "" : (program.parent_path().parent_path() / WEIR_DATA_BELOW_PREFIX).string();
}

/** PREFIX/share/weir where @p header is PREFIX/include/weir/scenarios/data-folders.h; else none. */
std::string
FolderOfHeader(const std::string& header)
{
    const std::string suffix =
        std::string("/") + WEIR_HEADERS_BELOW_PREFIX + "/scenarios/data-folders.h";
    const bool isPackaged =
        header.size() > suffix.size() &&
        header.compare(header.size() - suffix.size(), suffix.size(), suffix) == 0;
    return isPackaged ? header.substr(0, header.size() - suffix.size() + 1) + WEIR_DATA_BELOW_PREFIX
                      : "";
}

} // namespace

std::vector<std::string>
DataFolders(const std::string& packaged, const std::string& header)
{
    std::vector<std::string> folders;
    const char* listed = std::getenv("WEIR_DATA_PATH");
    std::istringstream named(listed != nullptr ? listed : "");
    for (std::string folder; std::getline(named, folder, ':');)
    {
        folders.push_back(folder);
    }
    folders.insert(folders.end(),
                   {FolderBesideProgram(),
                    packaged.empty() ? FolderOfHeader(header) : packaged,
                    WEIR_SCENARIOS_SOURCE_DIR,
                    WEIR_SCENARIOS_INSTALL_DIR});
    const auto isEmpty = [](const std::string& folder) { return folder.empty(); };
    folders.erase(std::remove_if(folders.begin(), folders.end(), isEmpty), folders.end());
    return folders;
}

} // namespace weir
