// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_OUTPUT_FILE_H
#define WEIR_SCENARIOS_RESULTS_OUTPUT_FILE_H

#include <string>
#include <vector>

namespace weir
{

/** An output format, recognized by the first bytes of the files that Weir writes in it. */
struct OutputFormat
{
    const char* name;
    std::vector<std::string> beginnings; //!< possible first bytes; empty: any text
};

inline const OutputFormat CSV_FORMAT{"CSV", {"collective,size_bytes,", "flow,src,dst,", "case,"}};
inline const OutputFormat HDF5_FORMAT{"HDF5 file", {"\x89HDF\r\n"}};
inline const OutputFormat TIMELINE_FORMAT{"timeline", {"{\"schemaVersion\":"}};
inline const OutputFormat SVG_FORMAT{"SVG", {"<svg ", "<?xml "}};

/** YAML, XML: files that cannot be distinguished from a user's own. */
inline const OutputFormat TEXT_FORMAT{"text", {}};

/**
 * A file that appears under its name only when it is complete.
 *
 * Until Commit, the file has no name where the file system supports unnamed files (O_TMPFILE), so
 * no partial file remains however the process ends. Elsewhere it has a temporary name next to its
 * final one, and the destructor removes it unless Commit was called. Commit renames the file. If
 * the path is a symbolic link, the link stays and its target is replaced or created.
 *
 * An existing file is replaced only if it is empty or has the same format, so a mistyped name does
 * not destroy an input or another file of the user.
 */
class OutputFile
{
  public:
    /**
     * Creates the temporary file, empty.
     * @param what the option or key that named the file, for the message
     * @throws InputError when the file cannot be written there: its folder is missing or not
     * writable, or @p path is a folder, a device, a pipe, a cyclic symbolic link, or a file of
     * another format.
     */
    OutputFile(std::string path, const std::string& what, const OutputFormat& format);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /**
     * The temporary name of a file with the final name @p path while this process writes it, if it
     * needs one.
     * @throws InputError when @p path is a cyclic symbolic link.
     */
    static std::string TemporaryName(const std::string& path);

    /** The final name of the file. */
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
     * @throws std::runtime_error when the system cannot write it, such as on a full disk.
     */
    void Save(const std::string& text);

    /**
     * Renames the file to its final name and replaces an existing one.
     * @throws std::runtime_error when the system cannot do so.
     */
    void Commit();

  private:
    std::string m_path;
    std::string m_temporaryPath;
    int m_nameless{-1}; //!< descriptor of the unnamed file; -1: the temporary file has a name
    bool m_committed{false};
};

/**
 * Checks that one file does not have two roles.
 * @param what the option or key that named @p path
 * @param otherWhat description of @p other; empty paths are ignored
 * @throws InputError when both paths refer to the same file, whether it exists or not.
 */
void ExpectOtherFile(const std::string& what,
                     const std::string& path,
                     const std::string& otherWhat,
                     const std::string& other);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_OUTPUT_FILE_H
