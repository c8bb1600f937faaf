// The record of one tensor in a debug file; its detail depends on the debug mode.
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

// The detail of a record, from least to most. Each comment lists the fields of RecordedTensor that
// are valid.
enum class Recorded : uint8_t {
  kNothing,  // such as NO_TENSOR, a missing output, or an unreadable summary
  kShape,    // dtype, rank, dims, health.elements
  // bad; in health: for REDUCE_INF_NAN_THREE_SLOTS nan, neg_inf and pos_inf as 0 or 1, for
  // DebugNanCount nan, else nothing
  kBad,
  kBadCounts,  // bad; in health: elements, nan, neg_inf, pos_inf
  kCounts,     // bad; all of health; dtype and rank; dims if recorded (not in FULL_HEALTH)
};

struct GRAPNEL_PUBLIC RecordedTensor {
  Recorded what = Recorded::kNothing;
  bool bad = false;  // has a NaN or an infinity
  DataType dtype = proto::DT_INVALID;
  int rank = -1;
  std::vector<int64_t> dims;  // empty: none recorded; -1: not recorded (SHAPE keeps the last six)
  Health health;
  bool TellsBad() const { return what >= Recorded::kBad; }
};

// Reads a serialized TensorProto that TensorFlow 2.21 wrote in debug mode `mode`. A whole tensor
// (FULL_TENSOR) is counted, but its values are not kept. Sets `problem` if the tensor cannot be
// read or is not a summary that the mode writes. Cost: linear in the elements of a whole tensor,
// else constant.
GRAPNEL_PUBLIC RecordedTensor ReadRecordedTensor(TensorDebugMode mode, llvm::StringRef tensor_proto,
                                                 std::string* problem);

// Reads the output of a debug op of tfdbg v1: DebugNumericSummary, or DebugNanCount, which counts
// only NaNs (then the record is kBad, with the count in health.nan). Sets `problem` if it is
// neither, or cannot be read.
GRAPNEL_PUBLIC RecordedTensor ReadV1Summary(llvm::StringRef debug_op, llvm::StringRef tensor_proto,
                                            std::string* problem);

// Returns "float 2-D, 160 elements: -inf x12, negative x143, zero x5"; "not recorded" for kNothing.
GRAPNEL_PUBLIC std::string RecordedTensorText(const RecordedTensor& tensor);
// Returns the counts of NaN and infinite elements: "NaN x1, -inf x12". Without counts, returns the
// kinds ("-inf, NaN"), or "inf or NaN" if they were not recorded either; returns "" if the tensor
// has none.
GRAPNEL_PUBLIC std::string BadText(const RecordedTensor& tensor);
// Returns those of "+inf", "-inf" and "nan" that the tensor has; none if the kinds were not
// recorded.
GRAPNEL_PUBLIC std::vector<std::string> BadKinds(const RecordedTensor& tensor);

// Returns the mode's name, such as "FULL_HEALTH"; "mode 99" if TensorFlow 2.21 has no mode 99.
GRAPNEL_PUBLIC std::string DebugModeName(TensorDebugMode mode);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_RECORDED_TENSOR_H_
