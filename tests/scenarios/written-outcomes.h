// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_SCENARIOS_WRITTEN_OUTCOMES_H
#define WEIR_TESTS_SCENARIOS_WRITTEN_OUTCOMES_H

#include "scenarios/results/hdf5-file.h"
#include "scenarios/validation/validate.h"
#include "scratch-folder.h"

#include <hdf5_hl.h>
#include <string>
#include <vector>

namespace weir
{

/** File written from outcomes, read by the plain C interface. */
class WrittenOutcomes
{
  public:
    explicit WrittenOutcomes(const std::vector<SuiteOutcome>& outcomes)
    {
        const std::string path = m_folder / "v.h5";
        Hdf5File file(path, "-o");
        WriteOutcomes(file, outcomes);
        file.Commit();
        m_file = Hdf5Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open");
    }

    bool Has(const std::string& path) const
    {
        return H5LTpath_valid(m_file.Get(), path.c_str(), 1) > 0;
    }

    std::vector<double> Column(const std::string& path) const
    {
        hsize_t rows = 0;
        H5LTget_dataset_info(m_file.Get(), path.c_str(), &rows, nullptr, nullptr);
        std::vector<double> values(rows);
        H5LTread_dataset_double(m_file.Get(), path.c_str(), values.data());
        return values;
    }

    std::vector<std::string> Texts(const std::string& path) const
    {
        hsize_t rows = 0;
        H5LTget_dataset_info(m_file.Get(), path.c_str(), &rows, nullptr, nullptr);
        std::vector<char*> texts(rows);
        H5LTread_dataset(m_file.Get(), path.c_str(), MakeHdf5TextType().Get(), texts.data());
        std::vector<std::string> values;
        for (char* text : texts)
        {
            values.emplace_back(text);
            H5free_memory(text);
        }
        return values;
    }

    std::string Attribute(const std::string& path, const char* name) const
    {
        Hdf5Handle attribute(
            H5Aopen_by_name(m_file.Get(), path.c_str(), name, H5P_DEFAULT, H5P_DEFAULT),
            H5Aclose,
            "open an attribute");
        char* text = nullptr;
        H5Aread(attribute.Get(), MakeHdf5TextType().Get(), &text);
        const std::string copy = text;
        H5free_memory(text);
        return copy;
    }

  private:
    ScratchFolder m_folder;
    Hdf5Handle m_file;
};

} // namespace weir

#endif // WEIR_TESTS_SCENARIOS_WRITTEN_OUTCOMES_H
