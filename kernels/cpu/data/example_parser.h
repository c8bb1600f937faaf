// A batch of tf.train.Examples as tensors: what ParseExample, ParseSequenceExample and their
// datasets share.
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
  bool varies = false;  // that dimension is unknown: examples are padded to the longest
  int64_t size = 0;     // elements of a value, or of one step of the unknown dimension
  Tensor otherwise;     // what an example without the feature has, or the padding; may be empty
};
struct RaggedSpec : FeatureSpec {
  DataType split_type = proto::DT_INT64;
};

struct ExampleSpec {
  std::vector<FeatureSpec> sparse;
  std::vector<DenseSpec> dense;
  std::vector<RaggedSpec> ragged;
};

// Fills shape, varies, size and otherwise of the dense ones and checks all: dtypes that an Example
// can hold, keys in one list only, shapes and defaults that fit.
Error FinishSpec(ExampleSpec& spec, llvm::ArrayRef<Shape> dense_shapes,
                 llvm::ArrayRef<Tensor> defaults);

// Attributes of kernels that parse, as lists.
std::vector<DataType> TypesAttr(const Node& node, llvm::StringRef key);
std::vector<std::string> StringsAttr(const Node& node, llvm::StringRef key);
std::vector<Shape> ShapesAttr(const Node& node, llvm::StringRef key);

struct ExampleBatch {
  llvm::ArrayRef<std::string> serialized;
  llvm::ArrayRef<std::string> names;  // for errors; may be empty
  bool single = false;                // one example, whose tensors have no batch dimension
};

// "Name: a" of example `i`.
std::string NameOf(const ExampleBatch& batch, size_t i);

// Tensors in this order: indices, then values, then shapes of the sparse features; the dense ones;
// values, then row splits of the ragged ones. A single example has no row splits: they are empty.
Expected<std::vector<Tensor>> ParseExamples(const RunServices& services, const ExampleSpec& spec,
                                            const ExampleBatch& batch);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_EXAMPLE_PARSER_H_
