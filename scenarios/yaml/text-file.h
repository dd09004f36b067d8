// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_TEXT_FILE_H
#define WEIR_SCENARIOS_YAML_TEXT_FILE_H

#include <string>
#include <string_view>
#include <vector>

namespace weir
{

/** Optional first bytes of UTF-8 text, not part of its content. */
constexpr std::string_view BYTE_ORDER_MARK = "\xef\xbb\xbf";

/** Removes a BYTE_ORDER_MARK at the start of @p text. */
void RemoveByteOrderMark(std::string& text);

/** Offset of the first control character other than white space in @p text; npos if none. */
std::size_t FindNonText(std::string_view text);

/** Description of a byte found by FindNonText: "the byte 0x07". */
std::string ByteName(char byte);

/**
 * "folder" or "device" if @p path is one, from which no text can be read (a device may have no
 * end). Null for a regular file, a pipe and a missing file.
 */
const char* KindWithoutText(const std::string& path);

/** Whether @p path ends in .yaml or .yml. */
bool IsYamlFile(const std::string& path);

/** Whether @p path ends in .xml: an NCCL topology. */
bool IsNcclXmlFile(const std::string& path);

/** Whether @p path ends in .graphml. */
bool IsGraphMlFile(const std::string& path);

/** Whether @p path ends as a topology of another format than YAML: one of these two. */
bool IsTopologyFile(const std::string& path);

/**
 * Reads the whole content of a file, of any format.
 * @param expected description for messages, such as "a trace"
 * @throws InputError naming @p path when it is a folder, a device or unreadable.
 */
std::string ReadBytes(const std::string& path, const std::string& expected);

/**
 * Reads a whole text file, without a UTF-8 byte order mark.
 * @param expected description for messages, such as "a YAML file"
 * @throws InputError as ReadBytes, and at a control character, unless a mark declares UTF-16.
 */
std::string ReadTextFile(const std::string& path, const std::string& expected);

/** A file that the process has read. */
struct FileRead
{
    std::string path;  //!< absolute
    std::string state; //!< FileState when it was first read
};

/** A text that changes with the file: its size and modification time; "none" if it is missing. */
std::string FileState(const std::string& path);

/** Records that the process reads @p path, for callers that do not use ReadBytes. */
void NoteFileRead(const std::string& path);

/**
 * All files that the process has read, each once, similar to a compiler's dependency output for
 * build tools. A global record, on which no simulation result depends. Thread-safe.
 */
std::vector<FileRead> FilesRead();

/** Clears the record of FilesRead. */
void ForgetFilesRead();

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_TEXT_FILE_H
