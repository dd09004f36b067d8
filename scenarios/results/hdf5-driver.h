// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_HDF5_DRIVER_H
#define WEIR_SCENARIOS_RESULTS_HDF5_DRIVER_H

#include <hdf5.h>
#include <string>

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
    /** The file that a driver serves. */
    struct File
    {
        std::string path; //!< in messages
        int error{0};     //!< `errno` of the first failed write
    };

    /**
     * Registers the driver with HDF5.
     * @param path of the file, in messages
     * @throws std::runtime_error when HDF5 refuses it.
     */
    explicit Hdf5Driver(std::string path);
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
        return m_served.error;
    }

    /**
     * Checks the file that contains @p object, which this driver class opened.
     * @throws std::runtime_error that names the file and states the system's error if a write to it
     *         failed.
     */
    static void ThrowIfRefused(hid_t object);

  private:
    hid_t m_id{H5I_INVALID_HID};
    File m_served;
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_HDF5_DRIVER_H
