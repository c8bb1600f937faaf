// What the kernels of tf.data's ops share.
#ifndef GRAPNEL_KERNELS_CPU_DATA_DATASET_H_
#define GRAPNEL_KERNELS_CPU_DATA_DATASET_H_

#include "lib/exec/dataset.h"
#include "lib/exec/kernel.h"

namespace grapnel {

using NextElement = Expected<std::optional<DatasetElement>>;
inline std::optional<DatasetElement> NoElement() { return std::nullopt; }

// The dataset in a tensor, or that input `i` is.
Expected<DatasetRef> DatasetOf(const Tensor& tensor);
Expected<DatasetRef> DatasetIn(const KernelContext& ctx, int i);
Expected<int64_t> ScalarIn(const KernelContext& ctx, int i);
// What attributes output_types, or Toutput_types, and output_shapes say.
ElementSpec SpecOfAttrs(const Node& node);
// The number of dtypes that a list has.
int CountTypes(const Node& node, llvm::StringRef key);
// Whether the bytes are a serialized message, of whatever fields.
bool IsMessage(llvm::StringRef bytes);
// 1 or more, or -1 for as many as there is work for.
Error CheckParallelCalls(int64_t calls);
// Attribute `deterministic`, where it is a string: elements always come in the order of the input.
Error CheckDeterminism(const Node& node);
// Output 0 is this dataset of the node. Errors: attribute `metadata` is no message.
Error PutDataset(KernelContext& ctx, const Node& node, int64_t cardinality, Dataset::Begin begin);

// A function of the graph with the tensors that it captures, which follow its other arguments.
class CapturedFunction {
 public:
  // Function attribute `attr` of the node.
  static Expected<CapturedFunction> Make(const Node& node, llvm::StringRef attr);
  CapturedFunction With(std::vector<Tensor> captured) const;
  // Within one iterator all calls share one compiled function and what its stateful ops keep.
  Expected<DatasetElement> Call(DatasetContext& context, DatasetElement arguments) const;
  // Of a function with one result: what TensorFlow takes for true.
  Expected<bool> Test(DatasetContext& context, DatasetElement arguments) const;

 private:
  Node node_;
  std::string name_;
  std::vector<Tensor> captured_;
};
// Inputs [begin, end).
std::vector<Tensor> InputsOf(const KernelContext& ctx, int begin, int end);

// The next `size` elements of `input`, fewer at its end (`done` is set then); none when there is no
// batch left, or only part of one that is to be dropped.
Expected<std::vector<DatasetElement>> NextBatch(DatasetNext& input, DatasetContext& context,
                                                int64_t size, bool drop_remainder, bool& done);

// Row `i` of the first dimension as a tensor of its own.
Expected<Tensor> CopyOfRow(const RunServices& services, const Tensor& tensor, int64_t i);
// Component by component one below the other, all of one shape.
Expected<DatasetElement> StackElements(const RunServices& services,
                                       llvm::ArrayRef<DatasetElement> elements);

// Next() for batches of what `input` gives.
DatasetNext BatchesOf(DatasetNext input, int64_t size, bool drop_remainder);
// Of `n` elements, as a dataset counts them, so many times over; below 0: without end.
int64_t CardinalityOfRepeat(int64_t n, int64_t count);
int64_t CardinalityOfBatches(int64_t elements, int64_t size, bool drop_remainder);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_DATASET_H_
