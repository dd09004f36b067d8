// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/hdf5-driver.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weir
{

namespace
{

/** The driver data in a file access list. */
struct DriverInfo
{
    Hdf5Driver::File* served;
};

/** An open file; HDF5 uses a pointer to its first member. */
struct DriverFile
{
    H5FD_t common{};
    int descriptor{-1};
    haddr_t allocated{0};
    haddr_t end{0};
    Hdf5Driver::File* served{nullptr};

    void Note(bool isDone)
    {
        if (!isDone && served->error == 0)
        {
            served->error = errno == 0 ? EIO : errno;
        }
    }
};

DriverFile&
FileOf(const H5FD_t* file)
{
    return *reinterpret_cast<DriverFile*>(const_cast<H5FD_t*>(file));
}

H5FD_t*
DriverOpen(const char* name, unsigned flags, hid_t access, haddr_t)
{
    const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
    const int mode = ((flags & H5F_ACC_RDWR) != 0 ? O_RDWR : O_RDONLY) |
                     ((flags & H5F_ACC_CREAT) != 0 ? O_CREAT : 0) |
                     ((flags & H5F_ACC_TRUNC) != 0 ? O_TRUNC : 0) | O_CLOEXEC;
    auto file = std::make_unique<DriverFile>();
    file->served = info->served;
    file->descriptor = ::open(name, mode, 0666);

    struct stat status
    {
    };

    if (file->descriptor < 0 || ::fstat(file->descriptor, &status) != 0)
    {
        return nullptr;
    }
    file->end = static_cast<haddr_t>(status.st_size);
    return &file.release()->common;
}

herr_t
DriverClose(H5FD_t* file)
{
    const std::unique_ptr<DriverFile> own(&FileOf(file));
    own->Note(::close(own->descriptor) == 0);
    return 0;
}

herr_t
DriverQuery(const H5FD_t*, unsigned long* flags)
{
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

haddr_t
DriverGetAllocated(const H5FD_t* file, H5FD_mem_t)
{
    return FileOf(file).allocated;
}

herr_t
DriverSetAllocated(H5FD_t* file, H5FD_mem_t, haddr_t address)
{
    FileOf(file).allocated = address;
    return 0;
}

haddr_t
DriverGetEnd(const H5FD_t* file, H5FD_mem_t)
{
    return FileOf(file).end;
}

herr_t
DriverGetHandle(H5FD_t* file, hid_t, void** handle)
{
    *handle = FileOf(file).served;
    return 0;
}

herr_t
DriverRead(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer)
{
    auto* to = static_cast<char*>(buffer);
    std::memset(to, 0, size); // bytes beyond the end read as zeros
    for (size_t done = 0; done < size;)
    {
        const ssize_t count = ::pread(
            FileOf(file).descriptor, to + done, size - done, static_cast<off_t>(address + done));
        if (count <= 0)
        {
            FileOf(file).Note(count == 0);
            break;
        }
        done += static_cast<size_t>(count);
    }
    return 0;
}

herr_t
DriverWrite(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, const void* buffer)
{
    DriverFile& own = FileOf(file);
    const auto* from = static_cast<const char*>(buffer);
    for (size_t done = 0; done < size && own.served->error == 0;)
    {
        errno = 0;
        const ssize_t count =
            ::pwrite(own.descriptor, from + done, size - done, static_cast<off_t>(address + done));
        own.Note(count > 0);
        done += count > 0 ? static_cast<size_t>(count) : 0;
    }
    own.end = std::max(own.end, address + size);
    return 0;
}

herr_t
DriverTruncate(H5FD_t* file, hid_t, hbool_t)
{
    DriverFile& own = FileOf(file);
    if (own.end != own.allocated && own.served->error == 0)
    {
        own.Note(::ftruncate(own.descriptor, static_cast<off_t>(own.allocated)) == 0);
    }
    own.end = own.allocated;
    return 0;
}

hid_t
RegisterDriver()
{
    H5FD_class_t driver{};
#if H5_VERSION_GE(1, 14, 0)
    driver.version = H5FD_CLASS_VERSION;
    driver.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED + 1);
#endif
    driver.name = "weir";
    driver.maxaddr = HADDR_MAX / 2;
    driver.fc_degree = H5F_CLOSE_WEAK;
    driver.fapl_size = sizeof(DriverInfo);
    driver.open = DriverOpen;
    driver.close = DriverClose;
    driver.query = DriverQuery;
    driver.get_eoa = DriverGetAllocated;
    driver.set_eoa = DriverSetAllocated;
    driver.get_eof = DriverGetEnd;
    driver.get_handle = DriverGetHandle;
    driver.read = DriverRead;
    driver.write = DriverWrite;
    driver.truncate = DriverTruncate;
    const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), driver.fl_map);
    return H5FDregister(&driver);
}

} // namespace

Hdf5Driver::Hdf5Driver(std::string path)
    : m_id(RegisterDriver()),
      m_served{std::move(path), 0}
{
    if (m_id < 0)
    {
        throw std::runtime_error("HDF5: cannot register a driver");
    }
}

Hdf5Driver::~Hdf5Driver()
{
    H5FDunregister(m_id);
}

void
Hdf5Driver::Use(hid_t access)
{
    const DriverInfo info{&m_served};
    if (H5Pset_driver(access, m_id, &info) < 0)
    {
        throw std::runtime_error("HDF5: cannot use a driver");
    }
}

void
Hdf5Driver::ThrowIfRefused(hid_t object)
{
    const hid_t file = H5Iget_file_id(object);
    void* handle = nullptr;
    const bool isKnown = H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0;
    const File served = isKnown ? *static_cast<File*>(handle) : File{"the HDF5 file", EIO};
    H5Fclose(file);
    if (served.error != 0)
    {
        throw std::runtime_error("cannot write '" + served.path +
                                 "': " + std::strerror(served.error));
    }
}

} // namespace weir
