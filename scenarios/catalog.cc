// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"

#include "fabric/enum-names.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/text-file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace weir
{
namespace
{

namespace fs = std::filesystem;

constexpr const char* SUFFIX = ".yaml";
constexpr const char* SUITE_FILE = "suite.yaml";

const char*
Singular(CatalogKind kind)
{
    static constexpr EnumName<CatalogKind> NAMES[]{
        {CatalogKind::Systems, "system"},
        {CatalogKind::Models, "model"},
        {CatalogKind::Runs, "run"},
        {CatalogKind::Gpus, "GPU"},
        {CatalogKind::Architectures, "architecture"},
        {CatalogKind::Hosts, "host"},
        {CatalogKind::Transports, "transport"},
        {CatalogKind::Frameworks, "framework"},
        {CatalogKind::Calibrations, "calibration"},
        {CatalogKind::FlowSizes, "distribution of flow sizes"},
        {CatalogKind::Corrections, "correction"},
        {CatalogKind::Switches, "switch"},
        {CatalogKind::Sweeps, "sweep"},
        {CatalogKind::Suites, "suite"},
    };
    return NameIn(NAMES, kind);
}

/** PREFIX/share/weir of the running PREFIX/bin/NAME, wherever PREFIX was moved to. */
std::string
FolderBesideProgram()
{
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? "" : (program.parent_path().parent_path() / WEIR_DATA_BELOW_PREFIX).string();
}

/** PREFIX/share/weir where @p header is PREFIX/include/weir/scenarios/catalog.h; else none. */
std::string
FolderOfHeader(const std::string& header)
{
    const std::string suffix =
        std::string("/") + WEIR_HEADERS_BELOW_PREFIX + "/scenarios/catalog.h";
    const bool isPackaged =
        header.size() > suffix.size() &&
        header.compare(header.size() - suffix.size(), suffix.size(), suffix) == 0;
    return isPackaged ? header.substr(0, header.size() - suffix.size() + 1) + WEIR_DATA_BELOW_PREFIX
                      : "";
}

bool
IsFile(const fs::path& path)
{
    std::error_code error;
    return fs::is_regular_file(path, error);
}

/** Where data folders have descriptions of a kind, in the order in which they are searched. */
std::vector<fs::path>
FoldersOf(CatalogKind kind, const std::vector<std::string>& folders)
{
    std::vector<fs::path> found;
    for (const fs::path data : folders)
    {
        if (kind != CatalogKind::Suites)
        {
            found.push_back(data / ToString(kind));
            continue;
        }
        // Inside, or as in the source tree beside it.
        found.push_back(data / "validation");
        found.push_back(data.parent_path() / "validation");
    }
    return found;
}

/** The entry that @p path is, without its title; the name is empty when it is none. */
CatalogEntry
EntryAt(CatalogKind kind, const fs::path& path)
{
    if (kind == CatalogKind::Suites)
    {
        const fs::path file = path / SUITE_FILE;
        return IsFile(file) ? CatalogEntry{path.filename().string(), "", file.string()}
                            : CatalogEntry{};
    }
    return path.extension() == SUFFIX && IsFile(path)
               ? CatalogEntry{path.stem().string(), "", path.string()}
               : CatalogEntry{};
}

/** All of a kind in @p folders, by name, without titles. */
std::vector<CatalogEntry>
Entries(CatalogKind kind, const std::vector<std::string>& folders)
{
    std::vector<CatalogEntry> entries;
    for (const fs::path& directory : FoldersOf(kind, folders))
    {
        std::error_code error;
        for (const auto& item : fs::directory_iterator(directory, error))
        {
            CatalogEntry entry = EntryAt(kind, item.path());
            if (!entry.name.empty())
            {
                entries.push_back(std::move(entry));
            }
        }
    }
    // Stable: of one name, the one of the earlier folder stays first.
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return a.name < b.name;
    });
    entries.erase(std::unique(entries.begin(),
                              entries.end(),
                              [](const auto& a, const auto& b) { return a.name == b.name; }),
                  entries.end());
    return entries;
}

/** The title of the description at @p path, or why it has none. */
std::string
TitleOf(const std::string& path)
{
    try
    {
        const YamlNode node = YamlNode::Load(path);
        const auto title = node.IsMap() ? node.Find("title") : std::nullopt;
        return title ? title->AsString() : "";
    }
    catch (const InputError& error)
    {
        return std::string("(cannot be read: ") + error.what() + ")";
    }
}

YamlNode
ResolveWithin(const YamlNode& node,
              CatalogKind kind,
              const Catalog& catalog,
              std::vector<std::string>& visited)
{
    if (node.IsScalar())
    {
        const std::string path = fs::weakly_canonical(catalog.Find(kind, node)).string();
        if (std::find(visited.begin(), visited.end(), path) != visited.end())
        {
            node.Fail("found '" + node.AsString() +
                      "', which is based on itself, expected bases without a cycle");
        }
        visited.push_back(path);
        return ResolveWithin(YamlNode::Load(path), kind, catalog, visited);
    }
    const auto base = node.Find("base");
    if (!base)
    {
        return node;
    }
    if (!base->IsScalar())
    {
        base->AsString(); // throws: not a name
    }
    YamlNode merged = ResolveWithin(*base, kind, catalog, visited);
    merged.SetInherited();
    merged.Overlay(node);
    return merged;
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

const char*
ToString(CatalogKind kind)
{
    static constexpr EnumName<CatalogKind> NAMES[]{
        {CatalogKind::Systems, "systems"},
        {CatalogKind::Models, "models"},
        {CatalogKind::Runs, "runs"},
        {CatalogKind::Gpus, "gpus"},
        {CatalogKind::Architectures, "architectures"},
        {CatalogKind::Hosts, "hosts"},
        {CatalogKind::Transports, "transports"},
        {CatalogKind::Frameworks, "frameworks"},
        {CatalogKind::Calibrations, "calibrations"},
        {CatalogKind::FlowSizes, "flow-sizes"},
        {CatalogKind::Corrections, "corrections"},
        {CatalogKind::Switches, "switches"},
        {CatalogKind::Sweeps, "sweeps"},
        {CatalogKind::Suites, "suites"},
    };
    return NameIn(NAMES, kind);
}

Catalog::Catalog(std::vector<std::string> folders)
    : m_folders(std::move(folders))
{
}

bool
Catalog::IsPath(const std::string& text)
{
    return text.find('/') != std::string::npos || IsYamlFile(text) || IsNcclXmlFile(text);
}

std::vector<CatalogEntry>
Catalog::List(CatalogKind kind) const
{
    std::vector<CatalogEntry> entries = Entries(kind, m_folders);
    for (CatalogEntry& entry : entries)
    {
        entry.title = TitleOf(entry.path);
    }
    return entries;
}

std::vector<std::string>
Catalog::Names(CatalogKind kind) const
{
    return Mapped<std::string>(Entries(kind, m_folders), &CatalogEntry::name);
}

std::string
Catalog::Find(CatalogKind kind, const std::string& nameOrPath, const std::string& besideFile) const
{
    const std::string what = Singular(kind);
    if (kind == CatalogKind::Systems && IsGraphMlFile(nameOrPath))
    {
        throw InputError("found '" + nameOrPath +
                         "', a GraphML file, expected a system's name or file: weir topology "
                         "convert " +
                         nameOrPath + " -o SYSTEM.yaml writes one");
    }
    if (IsPath(nameOrPath))
    {
        const fs::path beside = fs::path(besideFile).parent_path() / nameOrPath;
        for (const fs::path& path : {beside, fs::path(nameOrPath)})
        {
            if (IsFile(path))
            {
                return path.string();
            }
        }
        const bool isFolder = fs::is_directory(nameOrPath);
        throw InputError((isFolder ? "found the folder '" : "found no file '") + nameOrPath +
                         "', expected a " + what + "'s name or file");
    }
    for (const fs::path& folder : FoldersOf(kind, m_folders))
    {
        const CatalogEntry entry = EntryAt(
            kind, folder / (kind == CatalogKind::Suites ? nameOrPath : nameOrPath + SUFFIX));
        if (!entry.name.empty())
        {
            return entry.path;
        }
    }
    const std::vector<std::string> names = Names(kind);
    throw InputError("found the unknown " + what + " '" + nameOrPath +
                     "', expected a file or one of: " + JoinNames(names) +
                     DidYouMean(nameOrPath, names));
}

std::string
Catalog::Find(CatalogKind kind, const YamlNode& node) const
{
    const std::string text = node.AsString();
    return LocateErrors(node.Where(), [&] { return Find(kind, text, node.File()); });
}

YamlNode
ResolveBase(const YamlNode& node, CatalogKind kind, const Catalog& catalog)
{
    std::vector<std::string> visited;
    return ResolveWithin(node, kind, catalog, visited);
}

std::vector<std::string>
BaseFiles(const YamlNode& node, CatalogKind kind, const Catalog& catalog)
{
    std::vector<std::string> visited;
    ResolveWithin(node, kind, catalog, visited);
    return visited;
}

} // namespace weir
