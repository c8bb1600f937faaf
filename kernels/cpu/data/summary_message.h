// Summaries as bytes: what the ops that make them and those that write them share.
#ifndef GRAPNEL_KERNELS_CPU_DATA_SUMMARY_MESSAGE_H_
#define GRAPNEL_KERNELS_CPU_DATA_SUMMARY_MESSAGE_H_

#include <string>

#include "lib/exec/tensor.h"
#include "lib/ir/node.h"
#include "lib/ir/wire.h"

namespace grapnel {

// Fields of Summary.Value.
enum SummaryField : uint32_t {
  kTag = 1,
  kSimple = 2,
  kHistogram = 5,
  kNodeName = 7,
  kTensor = 8,
  kMetadata = 9
};

// As protobuf writes a text that has no presence of its own: not when it is empty.
inline void AppendText(std::string* out, uint32_t field, llvm::StringRef text) {
  if (!text.empty()) AppendBytesField(out, field, text);
}
// A Summary of that one value.
std::string SummaryOfValue(llvm::StringRef value);

// Element `i` of a tensor of any real dtype, or bool.
double RealAt(const Tensor& tensor, int64_t i);

std::string ScalarValue(llvm::StringRef tag, double scalar);
// Errors: an element that is not finite.
Expected<std::string> HistogramValue(llvm::StringRef tag, const Tensor& values);

// Whole Summaries. Of a batch the first `most`, as PNG or WAV, under "TAG/image/0", or "TAG/image"
// where one is the most. Errors: no images or no sound of that shape.
//
// Floats are scaled: from 0 to the largest, or, where one is negative, so that 0 is 128. A pixel
// that is not finite is `bad_color`.
Expected<std::string> ImageSummaryOf(llvm::StringRef tag, const Tensor& images, int64_t most,
                                     const Tensor& bad_color);
Expected<std::string> AudioSummaryOf(llvm::StringRef tag, const Tensor& sounds, float rate,
                                     int64_t most);
// The attribute of an ImageSummary.
Expected<Tensor> BadColorOf(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_SUMMARY_MESSAGE_H_
