// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_CATALOG_H
#define WEIR_SCENARIOS_CATALOG_H

#include "fabric/kinds/fabric-kind.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/**
 * The data folder of the package that a program is compiled with: find_package(weir) defines it
 * from where it is found itself.
 */
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

/** What descriptions there are. */
enum class CatalogKind : uint8_t
{
    Systems,
    Models,
    Runs,
    Gpus,
    Architectures, //!< GPU generations
    Hosts,         //!< processors
    Transports,
    Frameworks,   //!< what a parallel plan is under a training framework
    Calibrations, //!< error bounds of the shortcuts
    FlowSizes,    //!< distributions of flow sizes
    Corrections,  //!< what corrects a fluid
    Switches,     //!< models of switches
    Sweeps,       //!< commands with values that vary
    Suites        //!< folders of validation/ that hold a suite.yaml
};

/** "systems", ...: the kind's folder, and what the command line calls it. */
const char* ToString(CatalogKind kind);

/** A description that can be named. */
struct CatalogEntry
{
    std::string name;  //!< its file without ".yaml" (a suite: its folder)
    std::string title; //!< its `title:`; empty when it has none
    std::string path;  //!< its YAML file
};

/**
 * The descriptions Weir ships and those a user adds, found by name.
 *
 * A data folder holds systems/, models/, runs/, gpus/, architectures/, hosts/, transports/,
 * frameworks/, calibrations/, flow-sizes/, corrections/, switches/, sweeps/ and validation/ (or has
 * validation/ beside it, as the source tree does). Folders are searched in order; the first file of
 * a name counts.
 */
class Catalog
{
  public:
    /** @param folders searched in this order */
    explicit Catalog(std::vector<std::string> folders = DataFolders());

    /** All of a kind, by name. */
    std::vector<CatalogEntry> List(CatalogKind kind) const;

    /** Only their names. */
    std::vector<std::string> Names(CatalogKind kind) const;

    /** Whether @p text is a path, not a name: it has a slash or ends in ".yaml" or ".xml". */
    static bool IsPath(const std::string& text);

    /**
     * The file of @p nameOrPath. A path is taken as it stands when
     * absolute, else beside the file that names it (@p besideFile, if any), else from where the
     * program runs.
     * @throws InputError "found ..., expected ...", without a location, when there is none.
     */
    std::string Find(CatalogKind kind,
                     const std::string& nameOrPath,
                     const std::string& besideFile = "") const;

    /** As Find, for the text of @p node; @throws InputError with its location. */
    std::string Find(CatalogKind kind, const YamlNode& node) const;

    /** The fabric kinds that systems may name: those of Weir, and what was added. */
    const FabricKindRegistry& GetFabricKinds() const
    {
        return m_fabricKinds;
    }

    /** @throws std::invalid_argument when there is a kind of that name. */
    void AddFabricKind(Polymorphic<FabricKind> kind)
    {
        m_fabricKinds.Add(std::move(kind));
    }

  private:
    std::vector<std::string> m_folders; //!< searched in this order
    FabricKindRegistry m_fabricKinds{FabricKinds()};
};

/**
 * The map that @p node stands for: a name or path of the catalog is loaded, and a map with
 * `base:` (a name or path) is laid over what its base stands for; every value keeps its own
 * location, and those of the base are marked as inherited.
 * @throws InputError when a name is unknown or bases lead back to themselves.
 */
YamlNode ResolveBase(const YamlNode& node, CatalogKind kind, const Catalog& catalog);

/** The files that ResolveBase reads, each behind what is based on it. @throws as ResolveBase. */
std::vector<std::string> BaseFiles(const YamlNode& node, CatalogKind kind, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_CATALOG_H
