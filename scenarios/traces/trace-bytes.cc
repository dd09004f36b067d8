// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/trace-bytes.h"

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/text-file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <zlib.h>

namespace weir
{

namespace
{

constexpr std::size_t MAX_UNPACKED = std::size_t{1} << 31; //!< maximum uncompressed size
/**
 * Maximum compression ratio. Traces are text with repeated keys and are compressed 10 to 60 times;
 * only zeros reach 1000 times.
 */
constexpr std::size_t MAX_RATIO = 250;
constexpr std::size_t SMALL_FILE = std::size_t{1} << 26; //!< smaller files have no ratio limit
constexpr std::size_t TAR_BLOCK = 512;                   //!< block size of a tar archive

bool
IsGzip(const std::string& bytes)
{
    return bytes.compare(0, 2, "\x1f\x8b") == 0;
}

struct Inflater
{
    z_stream stream{};

    Inflater()
    {
        constexpr int GZIP_WINDOW = 15 + 16; // zlib.h: largest window, with gzip header
        if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        {
            throw std::bad_alloc();
        }
    }

    ~Inflater()
    {
        inflateEnd(&stream);
    }

    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
};

std::string
Uncompress(const std::string& packed, const std::string& path)
{
    Inflater inflater;
    z_stream& stream = inflater.stream;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    std::string plain;
    std::array<char, std::size_t{1} << 16> part{};
    int state = Z_OK;
    while (state != Z_STREAM_END)
    {
        stream.next_out = reinterpret_cast<Bytef*>(part.data());
        stream.avail_out = part.size();
        state = inflate(&stream, Z_NO_FLUSH);
        if (state != Z_OK && state != Z_STREAM_END)
        {
            throw InputError(path + ": found gzip that ends or breaks after " +
                             std::to_string(plain.size()) + " bytes, expected a whole file");
        }
        plain.append(part.data(), part.size() - stream.avail_out);
        if (plain.size() > MAX_UNPACKED ||
            (plain.size() > SMALL_FILE && plain.size() / MAX_RATIO > packed.size()))
        {
            throw InputError(path + ": found gzip of more than " + std::to_string(plain.size()) +
                             " bytes, expected a trace");
        }
        if (state == Z_STREAM_END && stream.avail_in > 0)
        {
            inflateReset(&stream); // next gzip member
            state = Z_OK;
        }
    }
    return plain;
}

/** Whether @p bytes are a POSIX.1-1988 tar archive: "ustar" at byte 257 of the header. */
bool
IsTar(const std::string& bytes)
{
    return bytes.size() >= TAR_BLOCK && bytes.compare(257, 5, "ustar") == 0;
}

std::vector<TraceBytes>
Unpack(const std::string& archive, const std::string& path)
{
    constexpr std::size_t NAME = 100; // size of the name field in bytes
    constexpr std::size_t SIZE = 124; // offset of the file size, in octal
    constexpr std::size_t TYPE = 156; // offset of the type; '0' or 0: regular file
    std::vector<TraceBytes> files;
    std::size_t at = 0;
    while (at + TAR_BLOCK <= archive.size() && archive[at] != '\0')
    {
        const std::string name(archive.data() + at, strnlen(archive.data() + at, NAME));
        const std::string digits = archive.substr(at + SIZE, 12);
        const auto size = static_cast<std::size_t>(std::strtoull(digits.c_str(), nullptr, 8));
        const char type = archive[at + TYPE];
        at += TAR_BLOCK;
        if (size > archive.size() - at)
        {
            throw InputError(path + ": found " + std::to_string(archive.size() - at) +
                             " bytes of " + name + ", expected " + std::to_string(size));
        }
        const std::string base = name.substr(name.rfind('/') + 1);
        if ((type == '0' || type == '\0') && base.compare(0, 2, "._") != 0)
        {
            files.push_back({path + "/" + base, archive.substr(at, size)});
            RemoveByteOrderMark(files.back().bytes);
        }
        at += (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
        at = std::min(at, archive.size());
    }
    if (files.empty())
    {
        throw InputError(path + ": found an archive without files, expected one of traces");
    }
    return files;
}

} // namespace

std::vector<TraceBytes>
ReadTraceBytes(const std::string& path)
{
    std::string bytes = ReadBytes(path, "a trace");
    if (IsGzip(bytes))
    {
        bytes = Uncompress(bytes, path);
    }
    if (IsTar(bytes))
    {
        return Unpack(bytes, path);
    }
    RemoveByteOrderMark(bytes);
    return {{path, std::move(bytes)}};
}

} // namespace weir
