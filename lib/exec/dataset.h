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

// The dtype and shape of each component of an element; shapes may be partly known. Both lists are
// empty if neither is known.
struct ElementSpec {
  std::vector<DataType> dtypes;
  std::vector<Shape> shapes;

  // Errors: the element, or the elements that `is` describes, do not fit this spec.
  Error Check(llvm::ArrayRef<Tensor> element) const;
  Error Check(const ElementSpec& is) const;
};

// State that a tf.data op keeps between the calls of an iterator (DatasetNext), such as a compiled
// function. An iterator and the iterators that it reads share these states, by name.
class IteratorState {
 public:
  virtual ~IteratorState() = default;
};

// The run's services and the states that one call of a DatasetNext may use.
struct DatasetContext {
  const RunServices& services;
  std::map<std::string, std::shared_ptr<IteratorState>>& states;
};

// Advances an iterator: returns the next element, or nullopt at the end and in every later call.
// Not thread-safe. Parallel tf.data ops make one call after the other, so that the order of
// elements is deterministic.
using DatasetNext = llvm::unique_function<Expected<std::optional<DatasetElement>>(DatasetContext&)>;

class Dataset : public Object {
 public:
  static constexpr int64_t kInfinite = -1, kUnknown = -2;
  // A function that makes an iterator. The op's kernel supplies this function, which captures the
  // op's inputs.
  using Begin = std::function<Expected<DatasetNext>(DatasetContext&)>;

  Dataset(std::string op, int64_t cardinality, ElementSpec spec, Begin begin)
      : op_(std::move(op)),
        cardinality_(cardinality),
        spec_(std::move(spec)),
        begin_(std::move(begin)) {}

  // Returns a new iterator, positioned before the first element. Its calls also fail once their run
  // is cancelled, and if spec() is known and an element has another number of components.
  Expected<DatasetNext> MakeIterator(DatasetContext& context) const;
  // The number of elements, kInfinite or kUnknown, as TensorFlow determines it without iterating.
  int64_t cardinality() const { return cardinality_; }
  // The dtypes and shapes of the components, as TensorFlow knows them without iterating.
  const ElementSpec& spec() const { return spec_; }
  std::string ToString() const override { return "dataset of " + op_; }

 private:
  std::string op_;
  int64_t cardinality_;
  ElementSpec spec_;
  Begin begin_;
};
using DatasetRef = llvm::IntrusiveRefCntPtr<Dataset>;

// An iterator together with the states that its calls share. Not thread-safe.
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
  // `spec` has the dtypes and shapes of the elements, from the attributes of the op that makes the
  // iterator.
  DatasetIterator(std::string name, ElementSpec spec)
      : name_(std::move(name)), spec_(std::move(spec)) {}
  const ElementSpec& spec() const { return spec_; }

  // Starts at the first element of `dataset`, whatever was iterated before. Errors: the dataset's
  // elements do not match spec().
  Error Start(DatasetRef dataset);
  // Returns the next element; nullopt at the end. Errors: Start was never called, or an error of
  // the dataset's iterator.
  Expected<std::optional<DatasetElement>> Next(const RunServices& services);
  std::string ToString() const override { return "iterator '" + name_ + "'"; }

 private:
  std::string name_;
  ElementSpec spec_;
  std::mutex mutex_;
  std::optional<DatasetWalk> walk_;
};

// The value of a variant from OptionalFromValue, IteratorGetNextAsOptional or OptionalNone;
// nullopt: no value.
struct Optional : Object {
  std::optional<DatasetElement> value;
  std::string ToString() const override { return value ? "optional with a value" : "no value"; }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_DATASET_H_
