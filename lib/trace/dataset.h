// tf.data inside a traced function: datasets are values of the graph, and what maps, filters or
// reduces them is a function of the library, made of a lambda. The executor runs them.
//
//   Value total = data::Dataset::Range(t, n)
//                     .Map([](Values x) { return Values{x[0] * x[0]}; })
//                     .Batch(2)
//                     .Reduce({zero}, [](Values sum, Values x) { return Values{sum[0] + x[0]};
//                     })[0];
//
// Elements are one or more tensors; a lambda gets them all. It may use values from outside, which
// are passed in. Errors are the Tracer's: a value of another trace, results that do not fit.
#ifndef GRAPNEL_LIB_TRACE_DATASET_H_
#define GRAPNEL_LIB_TRACE_DATASET_H_

#include <optional>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {
namespace data {

class GRAPNEL_PUBLIC Dataset {
 public:
  using ElementFn = llvm::function_ref<Values(Values element)>;
  using DatasetFn = llvm::function_ref<Dataset(Values element)>;
  using ReduceFn = llvm::function_ref<Values(Values state, Values element)>;

  // int64 scalars start, start + step, ... before stop.
  static Dataset Range(Tracer& t, const Operand& stop, SourceLocation where = SourceLocation());
  static Dataset Range(Tracer& t, const Operand& start, const Operand& stop,
                       const Operand& step = 1, SourceLocation where = SourceLocation());
  // The rows of tensors with one first dimension; the tensors as the one element.
  static Dataset FromTensorSlices(Tracer& t, const Values& tensors, SourceLocation where = SourceLocation());
  static Dataset FromTensors(Tracer& t, const Values& tensors, SourceLocation where = SourceLocation());
  // Element i of all, as one. As long as the shortest.
  static Dataset Zip(const std::vector<Dataset>& datasets, SourceLocation where = SourceLocation());

  Dataset Map(ElementFn fn, SourceLocation where = SourceLocation()) const;
  Dataset Filter(ElementFn predicate, SourceLocation where = SourceLocation()) const;  // gives one bool scalar
  Dataset FlatMap(DatasetFn fn, SourceLocation where = SourceLocation()) const;
  Dataset Interleave(DatasetFn fn, const Operand& cycle_length, const Operand& block_length = 1,
                     SourceLocation where = SourceLocation()) const;
  Dataset Batch(const Operand& size, bool drop_remainder = false, SourceLocation where = SourceLocation()) const;
  Dataset Shuffle(const Operand& buffer, const std::optional<int64_t>& seed = {},
                  SourceLocation where = SourceLocation()) const;
  Dataset Repeat(const Operand& count = -1, SourceLocation where = SourceLocation()) const;  // -1: without end
  Dataset Take(const Operand& count, SourceLocation where = SourceLocation()) const;
  Dataset Skip(const Operand& count, SourceLocation where = SourceLocation()) const;
  Dataset Prefetch(const Operand& buffer, SourceLocation where = SourceLocation()) const;
  Dataset Concatenate(const Dataset& other, SourceLocation where = SourceLocation()) const;

  // The state after the last element: fn(state, element) gives the next one, of the same dtypes.
  Values Reduce(const Values& initial, ReduceFn fn, SourceLocation where = SourceLocation()) const;
  // Of a dataset of one element. More or none: the run fails.
  Values GetSingleElement(SourceLocation where = SourceLocation()) const;

  const Value& variant() const { return variant_; }
  const std::vector<DataType>& dtypes() const { return dtypes_; }  // of an element's tensors
  const std::vector<Shape>& shapes() const { return shapes_; }

 private:
  Dataset(const Value& variant, std::vector<DataType> dtypes, std::vector<Shape> shapes)
      : variant_(variant), dtypes_(std::move(dtypes)), shapes_(std::move(shapes)) {}
  // A dataset op of this one and more inputs, whose elements are like those of this one.
  Dataset Apply(llvm::StringRef op, llvm::ArrayRef<Operand> more, const SourceLocation& where,
                std::vector<OpAttribute> attributes = {}) const;
  Dataset Counted(llvm::StringRef op, const Operand& count, const SourceLocation& where) const;
  Dataset OfDatasets(llvm::StringRef op, llvm::StringRef role, DatasetFn fn,
                     llvm::ArrayRef<Operand> more, const SourceLocation& where) const;

  Value variant_;
  std::vector<DataType> dtypes_;
  std::vector<Shape> shapes_;
};

}  // namespace data
}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_DATASET_H_
