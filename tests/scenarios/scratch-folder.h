// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_SCENARIOS_SCRATCH_FOLDER_H
#define WEIR_TESTS_SCENARIOS_SCRATCH_FOLDER_H

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdlib.h>
#include <string>
#include <unistd.h>

namespace weir
{

/** Empty folder, removed with its contents by the destructor. */
class ScratchFolder
{
  public:
    ScratchFolder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "weir-XXXXXX").string();
        m_path = mkdtemp(name.data());
    }

    ~ScratchFolder()
    {
        std::filesystem::remove_all(m_path);
    }

    /** Path of @p name in the folder. */
    std::string operator/(const std::string& name) const
    {
        return (m_path / name).string();
    }

    /** Number of files in it. */
    std::size_t Files() const
    {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(m_path), {}));
    }

    /** Whether its file system supports unnamed files, of which a killed process leaves nothing. */
    bool HasNamelessFiles() const
    {
        const int descriptor = ::open(m_path.c_str(), O_TMPFILE | O_RDWR, 0600);
        return descriptor >= 0 && ::close(descriptor) == 0;
    }

    static std::string Read(const std::string& path)
    {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

  private:
    std::filesystem::path m_path;
};

} // namespace weir

#endif // WEIR_TESTS_SCENARIOS_SCRATCH_FOLDER_H
