// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_OUTPUT_FILE_H
#define WEIR_SCENARIOS_RESULTS_OUTPUT_FILE_H

#include <string>

namespace weir
{

/**
 * A file that appears under its name only when it is complete.
 *
 * It is written under a temporary name beside its final one and renamed by Commit; an object that
 * is destroyed without Commit removes what it wrote, so nothing half-written stays. A link stays
 * one: what it leads to is replaced.
 */
class OutputFile
{
  public:
    /**
     * Creates the temporary file, empty.
     * @param what the option or key that named the file, for the message
     * @throws InputError when the file could not be written there: its folder is missing or not
     *         writable, or @p path is a folder, a device or a pipe.
     */
    OutputFile(std::string path, const std::string& what);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /** The name that a file to be named @p path has while this process writes it. */
    static std::string TemporaryName(const std::string& path);

    /** The name the file will have. */
    const std::string& Path() const
    {
        return m_path;
    }

    /** The name to write to until Commit. */
    const std::string& TemporaryPath() const
    {
        return m_temporaryPath;
    }

    /**
     * Writes @p text as the whole file and commits it.
     * @throws std::runtime_error when the system refuses, as on a full disk.
     */
    void Save(const std::string& text);

    /**
     * Gives the file its name, in place of an older one.
     * @throws std::runtime_error when the system refuses.
     */
    void Commit();

  private:
    std::string m_path;
    std::string m_temporaryPath;
    bool m_committed{false};
};

/**
 * Refuses one file in two roles.
 * @param what the option or key that named @p path
 * @param otherWhat what @p other is; files without a name are no files
 * @throws InputError when both names lead to one file, whether it exists or not.
 */
void ExpectOtherFile(const std::string& what,
                     const std::string& path,
                     const std::string& otherWhat,
                     const std::string& other);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_OUTPUT_FILE_H
