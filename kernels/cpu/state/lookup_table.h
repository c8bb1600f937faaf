// Lookup tables as resources, for the ops that fill and read them.
#ifndef GRAPNEL_KERNELS_CPU_STATE_LOOKUP_TABLE_H_
#define GRAPNEL_KERNELS_CPU_STATE_LOOKUP_TABLE_H_

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/kernel.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// Keys are stored as their bytes; a value is the tensor of one row.
class LookupTable : public Object {
 public:
  LookupTable(DataType key_type, DataType value_type, Dims value_dims, bool is_mutable)
      : key_type(key_type),
        value_type(value_type),
        value_dims(std::move(value_dims)),
        is_mutable(is_mutable) {}

  std::string ToString() const override {
    return llvm::formatv("table of {0} from {1} to {2}{3}", rows.size(), DataTypeName(key_type),
                         DataTypeName(value_type), DimsText(value_dims))
        .str();
  }
  int64_t key_size() const { return NumElements(key_dims).value_or(0); }
  int64_t row_size() const { return NumElements(value_dims).value_or(0); }

  // The keys that mark empty and deleted buckets, in tables that define them. Ops reject their use.
  std::vector<std::string> reserved;
  Dims key_dims;  // of one key; usually a scalar

  const DataType key_type, value_type;
  const Dims value_dims;
  const bool is_mutable;
  mutable std::mutex mutex;
  bool initialized = false;  // of a table that is filled once
  struct Row {
    Tensor value;
    int64_t number = 0;  // ascending in insertion order
  };
  llvm::StringMap<Row> rows;
  int64_t next_number = 0;
};

// Returns the table that input `i` refers to.
Expected<LookupTable*> TableIn(const KernelContext& ctx, int i);

// Inserts keys and values with equal numbers of rows. `unique`: a key may repeat only with the same
// value, as in a table that is filled once. The caller must hold the table's mutex.
Error InsertRows(KernelContext& ctx, LookupTable& table, const Tensor& keys, const Tensor& values,
                 bool unique);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_STATE_LOOKUP_TABLE_H_
