// Shared code of the kernels of tf.data ops.
#ifndef GRAPNEL_KERNELS_CPU_DATA_DATASET_H_
#define GRAPNEL_KERNELS_CPU_DATA_DATASET_H_

#include "lib/exec/dataset.h"
#include "lib/exec/kernel.h"

namespace grapnel {

using NextElement = Expected<std::optional<DatasetElement>>;
inline std::optional<DatasetElement> NoElement() { return std::nullopt; }

// Returns the dataset in a tensor, or in input `i`.
Expected<DatasetRef> DatasetOf(const Tensor& tensor);
Expected<DatasetRef> DatasetIn(const KernelContext& ctx, int i);
Expected<int64_t> ScalarIn(const KernelContext& ctx, int i);
// Reads attributes output_types (or Toutput_types) and output_shapes.
ElementSpec SpecOfAttrs(const Node& node);
// Returns the number of dtypes in a list attribute.
int CountTypes(const Node& node, llvm::StringRef key);
// True if the bytes are a well-formed protobuf message, with any fields.
bool IsMessage(llvm::StringRef bytes);
// Checks that `calls` is 1 or more, or -1 for automatic parallelism.
Error CheckParallelCalls(int64_t calls);
// Checks attribute `deterministic`, where it is a string. Elements always come in input order, so
// the value changes nothing.
Error CheckDeterminism(const Node& node);
// Sets output 0 to a new dataset created by the node. Fails if attribute `metadata` is not a valid
// message, or if the tensors of a TensorDataset or TensorSliceDataset do not match the attributes.
Error PutDataset(KernelContext& ctx, const Node& node, int64_t cardinality, Dataset::Begin begin);

// A function of the graph with its captured tensors, which follow its other arguments.
class CapturedFunction {
 public:
  // Takes the function in attribute `attr` of the node.
  static Expected<CapturedFunction> Make(const Node& node, llvm::StringRef attr);
  CapturedFunction With(std::vector<Tensor> captured) const;
  // Within one iterator, all calls share one compiled function and the state of its stateful ops.
  Expected<DatasetElement> Call(DatasetContext& context, DatasetElement arguments) const;
  // Calls a function with one result and returns the truth of that result, as TensorFlow defines
  // it.
  Expected<bool> Test(DatasetContext& context, DatasetElement arguments) const;

 private:
  Node node_;
  std::string name_;
  std::vector<Tensor> captured_;
};
// Returns inputs [begin, end).
std::vector<Tensor> InputsOf(const KernelContext& ctx, int begin, int end);

// Returns the next `size` elements of `input`, or fewer at its end, and then sets `done`. Returns
// an empty vector when no batch is left, or only a partial one that `drop_remainder` drops.
Expected<std::vector<DatasetElement>> NextBatch(DatasetNext& input, DatasetContext& context,
                                                int64_t size, bool drop_remainder, bool& done);

// Returns row `i` of the first dimension as a tensor: a part of the same memory if that is aligned,
// else a copy.
Expected<Tensor> CopyOfRow(const RunServices& services, const Tensor& tensor, int64_t i);
// Stacks each component of the elements along a new first dimension; dtypes and shapes must be
// equal.
Expected<DatasetElement> StackElements(const RunServices& services,
                                       llvm::ArrayRef<DatasetElement> elements);

// Returns a Next() that yields batches of the elements of `input`.
DatasetNext BatchesOf(DatasetNext input, int64_t size, bool drop_remainder);
// Returns the cardinality of a dataset of `n` elements repeated `count` times; a negative `count`
// repeats forever.
int64_t CardinalityOfRepeat(int64_t n, int64_t count);
int64_t CardinalityOfBatches(int64_t elements, int64_t size, bool drop_remainder);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_DATASET_H_
