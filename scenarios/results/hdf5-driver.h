// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_HDF5_DRIVER_H
#define WEIR_SCENARIOS_RESULTS_HDF5_DRIVER_H

#include <hdf5.h>

namespace weir
{

/**
 * An HDF5 file driver that writes as HDF5's POSIX driver does, but records a failed write (such as
 * on a full disk) instead of reporting it to HDF5. HDF5 (1.10) does not survive a failed write: it
 * fails again when the file is closed and when the process ends, prints thousands of lines of
 * errors, and ends with a segmentation fault. After the first failed write the driver writes
 * nothing more.
 */
class Hdf5Driver
{
  public:
    /** Registers the driver with HDF5. @throws std::runtime_error when HDF5 refuses it. */
    Hdf5Driver();
    ~Hdf5Driver();
    Hdf5Driver(const Hdf5Driver&) = delete;
    Hdf5Driver& operator=(const Hdf5Driver&) = delete;

    /**
     * Selects the driver in the file access list @p access. One driver serves one file.
     * @throws std::runtime_error when HDF5 refuses it.
     */
    void Use(hid_t access);

    /** The `errno` of the first failed write; 0 when none failed. */
    int Error() const
    {
        return m_error;
    }

    /**
     * Checks the file that contains @p object, which this driver class opened.
     * @throws std::runtime_error that states the system's error if a write to the file failed.
     */
    static void ThrowIfRefused(hid_t object);

  private:
    hid_t m_id{H5I_INVALID_HID};
    int m_error{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_HDF5_DRIVER_H
