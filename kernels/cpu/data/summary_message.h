// Serialized Summary messages: shared by the ops that create them and those that write them.
#ifndef GRAPNEL_KERNELS_CPU_DATA_SUMMARY_MESSAGE_H_
#define GRAPNEL_KERNELS_CPU_DATA_SUMMARY_MESSAGE_H_

#include <string>

#include "lib/exec/tensor.h"
#include "lib/ir/node.h"
#include "lib/ir/wire.h"

namespace grapnel {

// Field numbers of Summary.Value.
enum SummaryField : uint32_t {
  kTag = 1,
  kSimple = 2,
  kHistogram = 5,
  kNodeName = 7,
  kTensor = 8,
  kMetadata = 9
};

// Appends a string field as proto3 does: omits it when it is empty.
inline void AppendText(std::string* out, uint32_t field, llvm::StringRef text) {
  if (!text.empty()) AppendBytesField(out, field, text);
}
// Returns a Summary with this one serialized value.
std::string SummaryOfValue(llvm::StringRef value);

// Returns element `i` of a tensor of any real dtype or bool.
double RealAt(const Tensor& tensor, int64_t i);

std::string ScalarValue(llvm::StringRef tag, double scalar);
// Fails on an element that is not finite.
Expected<std::string> HistogramValue(llvm::StringRef tag, const Tensor& values);

// Return whole Summaries of the first `most` entries of a batch, as PNG or WAV, under "TAG/image/0"
// or "TAG/audio/0", without the number when `most` is 1. Errors: such as a shape that is not one of
// images or audio.
//
// Float images are scaled, unless they are nearly 0: the largest value becomes 255, or, if a value
// is negative, 0 becomes 128. A pixel that is not finite becomes `bad_color`.
Expected<std::string> ImageSummaryOf(llvm::StringRef tag, const Tensor& images, int64_t most,
                                     const Tensor& bad_color);
Expected<std::string> AudioSummaryOf(llvm::StringRef tag, const Tensor& sounds, float rate,
                                     int64_t most);
// Reads the bad_color attribute of an ImageSummary.
Expected<Tensor> BadColorOf(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_SUMMARY_MESSAGE_H_
