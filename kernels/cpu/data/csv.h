// Lines of comma-separated values, for DecodeCSV and CSVDataset.
#ifndef GRAPNEL_KERNELS_CPU_DATA_CSV_H_
#define GRAPNEL_KERNELS_CPU_DATA_CSV_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

struct CsvFormat {
  char delimiter = ',';
  bool quotes = true;
  std::string missing;           // text that stands for no value, beside no text
  std::vector<int64_t> columns;  // those that are wanted, rising; empty: all
};

// `delimiter` must be one character, columns must rise and not be negative.
Expected<CsvFormat> MakeCsvFormat(llvm::StringRef delimiter, bool quotes, llvm::StringRef missing,
                                  std::vector<int64_t> columns);

// The wanted fields of one record, without quotes. Fields after the last that is wanted are not
// looked at.
Error SplitCsvRecord(llvm::StringRef record, const CsvFormat& format,
                     std::vector<std::string>* fields);

// float, double, int32, int64, string: element `i` of `to` is what `text` says. False: it says no
// such thing.
bool StoreCsvField(llvm::StringRef text, Tensor& to, int64_t i);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_CSV_H_
