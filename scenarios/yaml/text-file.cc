// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/text-file.h"

#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

namespace weir
{

namespace
{

bool
IsUtf16(std::string_view text)
{
    const std::string_view start = text.substr(0, 2);
    return start == "\xff\xfe" || start == "\xfe\xff";
}

/** Location "file:line:column" of the character at @p offset. */
std::string
LocationIn(const std::string& path, std::string_view text, std::size_t offset)
{
    const std::string_view before = text.substr(0, offset);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t lastBreak = before.rfind('\n');
    const std::size_t column = offset - (lastBreak == std::string_view::npos ? 0 : lastBreak + 1);
    return path + ":" + std::to_string(line) + ":" + std::to_string(column + 1);
}

struct ReadRecord
{
    std::mutex mutex;
    std::map<std::string, std::string> states; //!< FileState by path
};

ReadRecord&
TheReadRecord()
{
    static ReadRecord record;
    return record;
}

} // namespace

std::size_t
FindNonText(std::string_view text)
{
    const auto found = std::find_if(text.begin(), text.end(), [](unsigned char c) {
        return c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v';
    });
    return found == text.end() ? std::string_view::npos
                               : static_cast<std::size_t>(found - text.begin());
}

std::string
ByteName(char byte)
{
    char name[16];
    std::snprintf(name, sizeof(name), "the byte 0x%02x", static_cast<unsigned char>(byte));
    return name;
}

bool
IsYamlFile(const std::string& path)
{
    const auto extension = std::filesystem::path(path).extension();
    return extension == ".yaml" || extension == ".yml";
}

bool
IsNcclXmlFile(const std::string& path)
{
    return std::filesystem::path(path).extension() == ".xml";
}

bool
IsGraphMlFile(const std::string& path)
{
    return std::filesystem::path(path).extension() == ".graphml";
}

bool
IsTopologyFile(const std::string& path)
{
    return IsNcclXmlFile(path) || IsGraphMlFile(path);
}

const char*
KindWithoutText(const std::string& path)
{
    std::error_code ignored;
    switch (std::filesystem::status(path, ignored).type())
    {
    case std::filesystem::file_type::directory:
        return "folder";
    case std::filesystem::file_type::character:
    case std::filesystem::file_type::block:
        return "device";
    default:
        return nullptr;
    }
}

std::string
ReadBytes(const std::string& path, const std::string& expected)
{
    if (const char* kind = KindWithoutText(path))
    {
        throw InputError(path + ": found a " + kind + ", expected " + expected);
    }
    NoteFileRead(path);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream read;
    read << file.rdbuf();
    std::string bytes = read.str();
    if (!file.is_open() || file.bad())
    {
        throw InputError(path + ": found no readable file (" + std::strerror(errno) +
                         "), expected " + expected);
    }
    return bytes;
}

void
RemoveByteOrderMark(std::string& text)
{
    if (text.compare(0, BYTE_ORDER_MARK.size(), BYTE_ORDER_MARK) == 0)
    {
        text.erase(0, BYTE_ORDER_MARK.size());
    }
}

std::string
ReadTextFile(const std::string& path, const std::string& expected)
{
    std::string text = ReadBytes(path, expected);
    const std::size_t wrong = IsUtf16(text) ? std::string_view::npos : FindNonText(text);
    if (wrong != std::string_view::npos)
    {
        throw InputError(LocationIn(path, text, wrong) + ": found " + ByteName(text[wrong]) +
                         ", expected " + expected);
    }
    RemoveByteOrderMark(text);
    return text;
}

std::string
FileState(const std::string& path)
{
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    const auto written = std::filesystem::last_write_time(path, error);
    return error ? "none"
                 : std::to_string(size) + "@" + std::to_string(written.time_since_epoch().count());
}

void
NoteFileRead(const std::string& path)
{
    ReadRecord& record = TheReadRecord();
    const std::lock_guard<std::mutex> lock(record.mutex);
    std::error_code ignored; // an empty name: whoever opens it says so
    const std::string known = std::filesystem::absolute(path, ignored).lexically_normal().string();
    record.states.emplace(known, FileState(known));
}

std::vector<FileRead>
FilesRead()
{
    ReadRecord& record = TheReadRecord();
    const std::lock_guard<std::mutex> lock(record.mutex);
    std::vector<FileRead> files;
    for (const auto& [path, state] : record.states)
    {
        files.push_back({path, state});
    }
    return files;
}

void
ForgetFilesRead()
{
    ReadRecord& record = TheReadRecord();
    const std::lock_guard<std::mutex> lock(record.mutex);
    record.states.clear();
}

} // namespace weir
