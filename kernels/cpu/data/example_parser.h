// Parses a batch of tf.train.Examples into tensors. Shared by ParseExample, ParseSequenceExample
// and ParseExampleDataset.
#ifndef GRAPNEL_KERNELS_CPU_DATA_EXAMPLE_PARSER_H_
#define GRAPNEL_KERNELS_CPU_DATA_EXAMPLE_PARSER_H_

#include <string>
#include <vector>

#include "kernels/cpu/data/example_reader.h"
#include "lib/exec/kernel.h"

namespace grapnel {

struct FeatureSpec {
  std::string key;
  DataType dtype = proto::DT_INVALID;
};
struct DenseSpec : FeatureSpec {
  Shape shape;          // of one example's value; its first dimension may be unknown
  bool varies = false;  // its first dimension is unknown: examples are padded to the longest
  int64_t size = 0;     // elements of a value, or of one step of the unknown dimension
  Tensor otherwise;     // default for examples without the feature, or padding; may be empty
};
struct RaggedSpec : FeatureSpec {
  DataType split_type = proto::DT_INT64;
};

struct ExampleSpec {
  std::vector<FeatureSpec> sparse;
  std::vector<DenseSpec> dense;
  std::vector<RaggedSpec> ragged;
};

// Fills in the fields `shape`, `varies`, `size` and `otherwise` of the dense features, and checks
// the whole spec: dtypes that an Example can hold, no key both sparse and ragged, shapes and
// defaults that fit.
Error FinishSpec(ExampleSpec& spec, llvm::ArrayRef<Shape> dense_shapes,
                 llvm::ArrayRef<Tensor> defaults);

// Read list attributes of parsing kernels.
std::vector<DataType> TypesAttr(const Node& node, llvm::StringRef key);
std::vector<std::string> StringsAttr(const Node& node, llvm::StringRef key);
std::vector<Shape> ShapesAttr(const Node& node, llvm::StringRef key);

struct ExampleBatch {
  llvm::ArrayRef<std::string> serialized;
  llvm::ArrayRef<std::string> names;  // for error messages; may be empty
  bool single = false;                // a single example; its tensors have no batch dimension
};

// Returns the name of example `i`, or "<unknown>" if it has none.
std::string NameOf(const ExampleBatch& batch, size_t i);

// Returns tensors in this order: indices, then values, then shapes of the sparse features; the
// dense features; values, then row splits of the ragged features. The row splits of a single
// example are empty.
Expected<std::vector<Tensor>> ParseExamples(const RunServices& services, const ExampleSpec& spec,
                                            const ExampleBatch& batch);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_EXAMPLE_PARSER_H_
