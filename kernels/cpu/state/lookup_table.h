// Tables as resources, for the ops that fill and read them.
#ifndef GRAPNEL_KERNELS_CPU_STATE_LOOKUP_TABLE_H_
#define GRAPNEL_KERNELS_CPU_STATE_LOOKUP_TABLE_H_

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/kernel.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// Keys are kept as their bytes; a value is a row of elements in a tensor of all rows.
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

  // Keys that mark buckets as empty and as deleted, in tables that name such: never to be used.
  std::vector<std::string> reserved;
  Dims key_dims;  // of one key; most often it is a scalar

  const DataType key_type, value_type;
  const Dims value_dims;
  const bool is_mutable;
  mutable std::mutex mutex;
  bool initialized = false;  // of a table that is filled once
  struct Row {
    Tensor value;
    int64_t number = 0;  // counts up: the order in which keys came
  };
  llvm::StringMap<Row> rows;
  int64_t next_number = 0;
};

// The table that input `i` is.
Expected<LookupTable*> TableIn(const KernelContext& ctx, int i);

// Keys and values with as many rows. `unique`: a key may come twice only with the same value, as in
// a table that is filled once. The table's mutex must be held.
Error InsertRows(KernelContext& ctx, LookupTable& table, const Tensor& keys, const Tensor& values,
                 bool unique);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_STATE_LOOKUP_TABLE_H_
