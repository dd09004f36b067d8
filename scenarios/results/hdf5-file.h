// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_HDF5_FILE_H
#define WEIR_SCENARIOS_RESULTS_HDF5_FILE_H

#include "scenarios/results/hdf5-driver.h"
#include "scenarios/results/output-file.h"

#include <cstdint>
#include <hdf5.h>
#include <stdexcept>
#include <string>
#include <utility>

namespace weir
{

/** Owns one handle of the HDF5 library and closes it. */
class Hdf5Handle
{
  public:
    using Closer = herr_t (*)(hid_t);

    Hdf5Handle() = default;

    /** @throws std::runtime_error "HDF5: cannot <what>" when @p id is not a handle. */
    Hdf5Handle(hid_t id, Closer close, const std::string& what)
        : m_id(id),
          m_close(close)
    {
        if (id < 0)
        {
            throw std::runtime_error("HDF5: cannot " + what);
        }
    }

    ~Hdf5Handle()
    {
        if (m_id >= 0)
        {
            m_close(m_id);
        }
    }

    Hdf5Handle(Hdf5Handle&& other) noexcept
    {
        *this = std::move(other);
    }

    Hdf5Handle& operator=(Hdf5Handle&& other) noexcept
    {
        std::swap(m_id, other.m_id);
        std::swap(m_close, other.m_close);
        return *this;
    }

    hid_t Get() const
    {
        return m_id;
    }

  private:
    hid_t m_id{H5I_INVALID_HID};
    Closer m_close{nullptr};
};

/**
 * An HDF5 file being written: groups, attributes, single strings, and tables (Hdf5RowTable). The
 * file gets its final name in Commit; without Commit nothing stays on disk.
 *
 * No times are stored, so equal contents give identical files.
 */
class Hdf5File
{
  public:
    /**
     * Creates the file under a temporary name.
     * @param what the option or key that named the file, for messages
     * @throws InputError when it cannot be written there.
     */
    Hdf5File(const std::string& path, const std::string& what);
    ~Hdf5File();

    /** Creates group @p path ("/steps"); its parent groups must exist. */
    void AddGroup(const std::string& path);

    /** Sets an attribute of the object at @p path. */
    void SetAttribute(const std::string& path, const std::string& name, const std::string& text);
    void SetAttribute(const std::string& path, const std::string& name, double number);
    void SetAttribute(const std::string& path, const std::string& name, int64_t number);

    /** Writes a scalar dataset of UTF-8 text. */
    void WriteText(const std::string& path, const std::string& text);

    hid_t Get() const
    {
        return m_file.Get();
    }

    /**
     * Closes the file and renames it to its final name; nothing may be written afterwards.
     * @throws std::runtime_error when a write failed.
     */
    void Commit();

  private:
    OutputFile m_output;
    Hdf5Driver m_driver; //!< must outlive m_file
    Hdf5Handle m_file;
};

/** Variable-length UTF-8 text as an HDF5 type. */
Hdf5Handle MakeHdf5TextType();

/** Sets attribute @p name of the open object @p object. */
void SetHdf5Attribute(hid_t object, const std::string& name, const std::string& text);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_HDF5_FILE_H
