// What a debug file keeps of one tensor: as much as its debug mode records.
#ifndef GRAPNEL_LIB_WATCH_RECORDED_TENSOR_H_
#define GRAPNEL_LIB_WATCH_RECORDED_TENSOR_H_

#include <string>
#include <vector>

#include "lib/ir/types.h"
#include "lib/proto/debug_event.pb.h"
#include "lib/support/public.h"
#include "lib/watch/health.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

using proto::TensorDebugMode;

// From little to much; each line says which fields are meaningful.
enum class Recorded : uint8_t {
  kNothing,    // NO_TENSOR, an output that was left out, or a summary that could not be read
  kShape,      // dtype, rank, dims, health.elements
  kBad,        // bad; of REDUCE_INF_NAN_THREE_SLOTS also which counts of bad elements are not 0
  kBadCounts,  // bad, health.elements and its three counts of bad elements
  kCounts,     // all of health; dtype and rank; dims of a whole tensor
};

struct GRAPNEL_PUBLIC RecordedTensor {
  Recorded what = Recorded::kNothing;
  bool bad = false;  // has a NaN or an infinity
  DataType dtype = proto::DT_INVALID;
  int rank = -1;
  std::vector<int64_t> dims;  // -1: not recorded (SHAPE keeps the last six)
  Health health;
  bool TellsBad() const { return what >= Recorded::kBad; }
};

// Reads a serialized TensorProto as `mode` (of TensorFlow 2.21) wrote it; of a whole tensor it
// counts and keeps no value. `problem` becomes a text when the summary is not what the mode writes;
// else it is left alone. Cost: linear in the elements of a whole tensor, else constant.
GRAPNEL_PUBLIC RecordedTensor ReadRecordedTensor(TensorDebugMode mode, llvm::StringRef tensor_proto,
                                                 std::string* problem);

// The same of what an op of tfdbg v1 put out: DebugNumericSummary, or DebugNanCount, which counts
// NaNs alone.
GRAPNEL_PUBLIC RecordedTensor ReadV1Summary(llvm::StringRef debug_op, llvm::StringRef tensor_proto,
                                            std::string* problem);

// "float, 160 elements: -inf x12, negative 143, zero 5"; "not recorded" when nothing is known.
GRAPNEL_PUBLIC std::string RecordedTensorText(const RecordedTensor& tensor);
// "-inf x12, NaN x1"; "inf or NaN" where they were not counted; "" of a tensor without.
GRAPNEL_PUBLIC std::string BadText(const RecordedTensor& tensor);
// "-inf", "+inf", "nan", sorted; empty where they were not counted.
GRAPNEL_PUBLIC std::vector<std::string> BadKinds(const RecordedTensor& tensor);

// "FULL_HEALTH"; "mode 99" when TensorFlow 2.21 has none of that number.
GRAPNEL_PUBLIC std::string DebugModeName(TensorDebugMode mode);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_RECORDED_TENSOR_H_
