// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_TEXT_FILE_H
#define WEIR_SCENARIOS_YAML_TEXT_FILE_H

#include <string>
#include <string_view>
#include <vector>

namespace weir
{

/** What UTF-8 text may begin with: no part of it. */
constexpr std::string_view BYTE_ORDER_MARK = "\xef\xbb\xbf";

/** The first byte of @p text that no text has: a control character that is no white space; npos. */
std::size_t FindNonText(std::string_view text);

/** "the byte 0x07", for what FindNonText finds. */
std::string ByteName(char byte);

/**
 * "folder" or "device" where @p path names one, which no text is read from: one has none, the other
 * no end. Null for a file, for a pipe and for what is not there.
 */
const char* KindWithoutText(const std::string& path);

/**
 * All of a file, whatever it holds.
 * @param expected "a trace".
 * @throws InputError naming @p path where it is a folder, a device or cannot be read.
 */
std::string ReadBytes(const std::string& path, const std::string& expected);

/**
 * All of a file of text, without a byte order mark of UTF-8.
 * @param expected "a YAML file".
 * @throws InputError as ReadBytes, and with the place of a byte that no text has, unless a mark
 * says that it is UTF-16.
 */
std::string ReadTextFile(const std::string& path, const std::string& expected);

/** A file that was read. */
struct FileRead
{
    std::string path;  //!< absolute
    std::string state; //!< FileState when it was read first
};

/** What changes where a file does: its size and when it was written; "none" where there is none. */
std::string FileState(const std::string& path);

/** Notes that the process reads @p path, for those that do so without ReadBytes. */
void NoteFileRead(const std::string& path);

/**
 * All files that the process has read text from, each once. What a build tool has its compilers
 * tell: the only record of that kind, and nothing that is simulated depends on it. Thread-safe.
 */
std::vector<FileRead> FilesRead();

/** From now on FilesRead tells what is read from now on. */
void ForgetFilesRead();

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_TEXT_FILE_H
