// tf.data inside a traced function. Datasets are values of the graph; a lambda that maps, filters
// or reduces one becomes a function of the library. The executor runs them.
//
//   Value total = data::Dataset::Range(t, n)
//                     .Map([](Values x) { return Values{x[0] * x[0]}; })
//                     .Batch(2)
//                     .Reduce({zero},
//                             [](Values sum, Values x) { return Values{sum[0] + x[0]}; })[0];
//
// An element is one or more tensors; a lambda gets all of them. A lambda may use values from
// outside, which become its captured inputs. The Tracer collects errors, such as a value of another
// trace, or results of the wrong number, dtypes or shapes.
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

  // The int64 scalars start, start + step, ... up to but excluding stop.
  static Dataset Range(Tracer& t, const Operand& stop, SourceLocation where = SourceLocation());
  static Dataset Range(Tracer& t, const Operand& start, const Operand& stop,
                       const Operand& step = 1, SourceLocation where = SourceLocation());
  // FromTensorSlices: the rows of tensors with equal first dimensions. FromTensors: the tensors as
  // a single element.
  static Dataset FromTensorSlices(Tracer& t, const Values& tensors,
                                  SourceLocation where = SourceLocation());
  static Dataset FromTensors(Tracer& t, const Values& tensors,
                             SourceLocation where = SourceLocation());
  // Element i combines element i of all datasets. The result ends with the shortest dataset.
  static Dataset Zip(const std::vector<Dataset>& datasets, SourceLocation where = SourceLocation());

  Dataset Map(ElementFn fn, SourceLocation where = SourceLocation()) const;
  // `predicate` returns one bool scalar
  Dataset Filter(ElementFn predicate, SourceLocation where = SourceLocation()) const;
  Dataset FlatMap(DatasetFn fn, SourceLocation where = SourceLocation()) const;
  Dataset Interleave(DatasetFn fn, const Operand& cycle_length, const Operand& block_length = 1,
                     SourceLocation where = SourceLocation()) const;
  Dataset Batch(const Operand& size, bool drop_remainder = false,
                SourceLocation where = SourceLocation()) const;
  Dataset Shuffle(const Operand& buffer, const std::optional<int64_t>& seed = {},
                  SourceLocation where = SourceLocation()) const;
  // a count of -1 repeats the dataset forever
  Dataset Repeat(const Operand& count = -1, SourceLocation where = SourceLocation()) const;
  Dataset Take(const Operand& count, SourceLocation where = SourceLocation()) const;
  Dataset Skip(const Operand& count, SourceLocation where = SourceLocation()) const;
  Dataset Prefetch(const Operand& buffer, SourceLocation where = SourceLocation()) const;
  Dataset Concatenate(const Dataset& other, SourceLocation where = SourceLocation()) const;

  // Returns the state after the last element; fn(state, element) returns the next state, of the
  // same dtypes.
  Values Reduce(const Values& initial, ReduceFn fn, SourceLocation where = SourceLocation()) const;
  // Returns the element of a dataset of one element. The run fails if the dataset has more elements
  // or none.
  Values GetSingleElement(SourceLocation where = SourceLocation()) const;

  const Value& variant() const { return variant_; }
  const std::vector<DataType>& dtypes() const { return dtypes_; }  // of an element's tensors
  const std::vector<Shape>& shapes() const { return shapes_; }

 private:
  Dataset(const Value& variant, std::vector<DataType> dtypes, std::vector<Shape> shapes)
      : variant_(variant), dtypes_(std::move(dtypes)), shapes_(std::move(shapes)) {}
  // Makes a dataset op whose inputs are this dataset and `more`, with elements like this dataset's.
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
