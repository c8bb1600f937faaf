// The values that tf.data's ops pass to one another: datasets, iterators and optionals.
#ifndef GRAPNEL_LIB_EXEC_DATASET_H_
#define GRAPNEL_LIB_EXEC_DATASET_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/exec/kernel.h"
#include "lib/exec/tensor.h"

namespace grapnel {

// One element of a dataset: a tensor for each component.
using DatasetElement = std::vector<Tensor>;

// What each component of an element is: its dtype, and its shape as far as it is known. Both are
// empty where nothing is.
struct ElementSpec {
  std::vector<DataType> dtypes;
  std::vector<Shape> shapes;

  // Whether an element, or every element of what `is` describes, can be one of these.
  Error Check(llvm::ArrayRef<Tensor> element) const;
  Error Check(const ElementSpec& is) const;
};

// What an op of tf.data keeps between the steps of an iterator, such as a compiled function. An
// iterator and the iterators that it reads share these states, by name.
class IteratorState {
 public:
  virtual ~IteratorState() = default;
};

// What a step of an iterator may use.
struct DatasetContext {
  const RunServices& services;
  std::map<std::string, std::shared_ptr<IteratorState>>& states;
};

// One step of an iterator: returns the next element, or nullopt at the end and at each call after
// it. Not thread-safe. Parallel ops of tf.data run one step after the other, so that the order of
// elements is always the same.
using DatasetNext = llvm::unique_function<Expected<std::optional<DatasetElement>>(DatasetContext&)>;

class Dataset : public Object {
 public:
  static constexpr int64_t kInfinite = -1, kUnknown = -2;
  // Makes an iterator. An op's kernel gives it, with the op's inputs captured.
  using Begin = std::function<Expected<DatasetNext>(DatasetContext&)>;

  Dataset(std::string op, int64_t cardinality, ElementSpec spec, Begin begin)
      : op_(std::move(op)),
        cardinality_(cardinality),
        spec_(std::move(spec)),
        begin_(std::move(begin)) {}

  // Returns a new iterator, which stands before the first element. Its steps are errors once the
  // run that they are for is cancelled, and where an element has not the components of spec().
  Expected<DatasetNext> MakeIterator(DatasetContext& context) const;
  // The number of elements, kInfinite or kUnknown, as TensorFlow tells it without iterating.
  int64_t cardinality() const { return cardinality_; }
  // As TensorFlow knows it without iterating.
  const ElementSpec& spec() const { return spec_; }
  std::string ToString() const override { return "dataset of " + op_; }

 private:
  std::string op_;
  int64_t cardinality_;
  ElementSpec spec_;
  Begin begin_;
};
using DatasetRef = llvm::IntrusiveRefCntPtr<Dataset>;

// An iterator together with the states that its steps share. Not thread-safe.
class DatasetWalk {
 public:
  explicit DatasetWalk(DatasetRef dataset) : dataset_(std::move(dataset)) {}
  Expected<std::optional<DatasetElement>> Next(const RunServices& services);

 private:
  DatasetRef dataset_;
  std::map<std::string, std::shared_ptr<IteratorState>> states_;
  DatasetNext next_;
};

// The resource that MakeIterator starts and IteratorGetNext reads. Thread-safe.
class DatasetIterator : public Object {
 public:
  // `spec` is what the op that makes the iterator says of its elements.
  DatasetIterator(std::string name, ElementSpec spec)
      : name_(std::move(name)), spec_(std::move(spec)) {}
  const ElementSpec& spec() const { return spec_; }

  // Begins at the first element of `dataset`, whatever was iterated before. Errors: the dataset has
  // elements that are not as spec() says.
  Error Start(DatasetRef dataset);
  // Returns the next element; nullopt at the end. Errors: Start was never called, and those of ops.
  Expected<std::optional<DatasetElement>> Next(const RunServices& services);
  std::string ToString() const override { return "iterator '" + name_ + "'"; }

 private:
  std::string name_;
  ElementSpec spec_;
  std::mutex mutex_;
  std::optional<DatasetWalk> walk_;
};

// The value of a variant from OptionalFromValue, IteratorGetNextAsOptional or OptionalNone
// (nullopt).
struct Optional : Object {
  std::optional<DatasetElement> value;
  std::string ToString() const override { return value ? "optional with a value" : "no value"; }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_DATASET_H_
