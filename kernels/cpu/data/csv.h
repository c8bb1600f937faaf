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
  std::string missing;           // additional text for a missing value; empty text always means one
  std::vector<int64_t> columns;  // wanted columns, ascending; empty: all
};

// `delimiter` must be one character; columns must ascend and not be negative.
Expected<CsvFormat> MakeCsvFormat(llvm::StringRef delimiter, bool quotes, llvm::StringRef missing,
                                  std::vector<int64_t> columns);

// Stores the wanted fields of one record, without quotes, in `fields`. Ignores the text after the
// last wanted field.
Error SplitCsvRecord(llvm::StringRef record, const CsvFormat& format,
                     std::vector<std::string>* fields);

// Parses `text` into element `i` of `to`, a tensor of float, double, int32, int64 or string. False
// if `text` is not such a value.
bool StoreCsvField(llvm::StringRef text, Tensor& to, int64_t i);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_CSV_H_
