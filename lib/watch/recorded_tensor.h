// The record of one tensor in a debug file, as detailed as its debug mode.
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

// From the least detail to the most; each comment lists the valid fields.
enum class Recorded : uint8_t {
  kNothing,    // NO_TENSOR, a missing output, or an unreadable summary
  kShape,      // dtype, rank, dims, health.elements
  kBad,        // bad; in REDUCE_INF_NAN_THREE_SLOTS also which counts of bad elements are not 0
  kBadCounts,  // bad, health.elements and its three counts of bad elements
  kCounts,     // all of health; dtype and rank; dims if the whole tensor was recorded
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

// Reads a serialized TensorProto as `mode` (of TensorFlow 2.21) wrote it; counts a whole tensor
// without keeping its values. Sets `problem` if the summary is not what the mode writes. Cost:
// linear in the elements of a whole tensor, else constant.
GRAPNEL_PUBLIC RecordedTensor ReadRecordedTensor(TensorDebugMode mode, llvm::StringRef tensor_proto,
                                                 std::string* problem);

// The same for the output of a debug op of tfdbg v1: DebugNumericSummary, or DebugNanCount, which
// counts only NaNs.
GRAPNEL_PUBLIC RecordedTensor ReadV1Summary(llvm::StringRef debug_op, llvm::StringRef tensor_proto,
                                            std::string* problem);

// Returns "float, 160 elements: -inf x12, negative 143, zero 5"; "not recorded" if nothing is
// known.
GRAPNEL_PUBLIC std::string RecordedTensorText(const RecordedTensor& tensor);
// Returns "-inf x12, NaN x1"; "inf or NaN" if they were not counted; "" if the tensor has none.
GRAPNEL_PUBLIC std::string BadText(const RecordedTensor& tensor);
// Returns "-inf", "+inf", "nan", sorted; empty if they were not counted.
GRAPNEL_PUBLIC std::vector<std::string> BadKinds(const RecordedTensor& tensor);

// Returns "FULL_HEALTH"; "mode 99" if TensorFlow 2.21 has no mode of that number.
GRAPNEL_PUBLIC std::string DebugModeName(TensorDebugMode mode);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_RECORDED_TENSOR_H_
