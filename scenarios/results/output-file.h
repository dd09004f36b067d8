// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_OUTPUT_FILE_H
#define WEIR_SCENARIOS_RESULTS_OUTPUT_FILE_H

#include <string>
#include <vector>

namespace weir
{

/** What an output is, by how every file of the kind that Weir has written begins. */
struct OutputFormat
{
    const char* name;
    std::vector<std::string> beginnings; //!< empty: any text
};

OutputFormat CsvFormat();
OutputFormat Hdf5Format();
OutputFormat TraceFormat();
OutputFormat SvgFormat();

/** YAML, XML: nobody can tell them from what a user has written. */
OutputFormat TextFormat();

/**
 * A file that appears under its name only when it is complete.
 *
 * It is written without a name, where the file system has such files (O_TMPFILE), so that nothing
 * half-written stays however the process ends; else under a temporary name beside its final one,
 * which an object that is destroyed without Commit removes. Commit renames it. A link stays one:
 * what it leads to is replaced, or made where it leads to nothing yet.
 *
 * An older file is replaced only if it is empty or of the same format, so that no input and no
 * file of the user's is lost to a slip in a name.
 */
class OutputFile
{
  public:
    /**
     * Creates the temporary file, empty.
     * @param what the option or key that named the file, for the message
     * @throws InputError when the file could not be written there: its folder is missing or not
     *         writable, @p path is a folder, a device or a pipe, a link that leads back to itself,
     * or a file of another format.
     */
    OutputFile(std::string path, const std::string& what, const OutputFormat& format);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /**
     * The name that a file to be named @p path has while this process writes it, where it has one.
     * @throws InputError at a link that leads back to itself.
     */
    static std::string TemporaryName(const std::string& path);

    /** The name the file will have. */
    const std::string& Path() const
    {
        return m_path;
    }

    /** The path to write to until Commit. */
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
    int m_nameless{-1}; //!< open; -1: the temporary file has a name
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
