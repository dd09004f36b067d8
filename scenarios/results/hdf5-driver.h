// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_HDF5_DRIVER_H
#define WEIR_SCENARIOS_RESULTS_HDF5_DRIVER_H

#include <hdf5.h>

namespace weir
{

/**
 * How HDF5 reaches the disk: as its own POSIX driver, but a write that the system refuses, as on a
 * full disk, is noted instead of reported. HDF5 (1.10) does not survive a failed write: it fails
 * again when the file is closed and when the process ends, thousands of lines of errors later with
 * a segmentation fault. After the first refusal nothing more is written.
 */
class Hdf5Driver
{
  public:
    /** Registers the driver. */
    Hdf5Driver();
    ~Hdf5Driver();
    Hdf5Driver(const Hdf5Driver&) = delete;
    Hdf5Driver& operator=(const Hdf5Driver&) = delete;

    /** Makes files that are opened with the access list @p access use it; one file a driver. */
    void Use(hid_t access);

    /** The `errno` of the first refusal; 0: none so far. */
    int Error() const
    {
        return m_error;
    }

    /**
     * The same of the file that @p object is in, which a driver opened.
     * @throws std::runtime_error that says what the system refused.
     */
    static void ThrowIfRefused(hid_t object);

  private:
    hid_t m_id{H5I_INVALID_HID};
    int m_error{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_HDF5_DRIVER_H
