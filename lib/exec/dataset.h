// What tf.data's ops pass along: datasets, iterators over them, and values that may be missing.
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

// State that lives as long as an iterator and the iterators within it: compiled functions, by name.
class IteratorState {
 public:
  virtual ~IteratorState() = default;
};

// What an iterator is given with each step.
struct DatasetContext {
  const RunServices& services;
  std::map<std::string, std::shared_ptr<IteratorState>>& states;
};

// One step of an iterator: the next element, or nothing when there is no more, and then nothing
// again and again. Single-threaded; parallel ops of tf.data run in the order that is deterministic.
using DatasetNext = llvm::unique_function<Expected<std::optional<DatasetElement>>(DatasetContext&)>;

class Dataset : public Object {
 public:
  static constexpr int64_t kInfinite = -1, kUnknown = -2;
  // As the op's kernel makes it. Captures what the dataset consists of.
  using Begin = std::function<Expected<DatasetNext>(DatasetContext&)>;

  Dataset(std::string op, int64_t cardinality, std::vector<Shape> shapes, Begin begin)
      : op_(std::move(op)),
        cardinality_(cardinality),
        shapes_(std::move(shapes)),
        begin_(std::move(begin)) {}

  // An iterator before its first element.
  Expected<DatasetNext> MakeIterator(DatasetContext& context) const { return begin_(context); }
  // The number of elements, or kInfinite or kUnknown, as TensorFlow says it without looking.
  int64_t cardinality() const { return cardinality_; }
  // Of each component, as the op's attribute output_shapes has it; empty when it has none.
  const std::vector<Shape>& shapes() const { return shapes_; }
  std::string ToString() const override { return "dataset of " + op_; }

 private:
  std::string op_;
  int64_t cardinality_;
  std::vector<Shape> shapes_;
  Begin begin_;
};
using DatasetRef = llvm::IntrusiveRefCntPtr<Dataset>;

// A walk over a dataset, with the state of its functions.
class DatasetWalk {
 public:
  explicit DatasetWalk(DatasetRef dataset) : dataset_(std::move(dataset)) {}
  Expected<std::optional<DatasetElement>> Next(const RunServices& services);

 private:
  DatasetRef dataset_;
  std::map<std::string, std::shared_ptr<IteratorState>> states_;
  DatasetNext next_;
};

// The resource that IteratorGetNext reads. Thread-safe.
class DatasetIterator : public Object {
 public:
  explicit DatasetIterator(std::string name) : name_(std::move(name)) {}

  // From the first element of this dataset on.
  void Start(DatasetRef dataset);
  // An error when it was never started.
  Expected<std::optional<DatasetElement>> Next(const RunServices& services);
  std::string ToString() const override { return "iterator '" + name_ + "'"; }

 private:
  std::string name_;
  std::mutex mutex_;
  std::optional<DatasetWalk> walk_;
};

// A variant that holds an element or none.
struct Optional : Object {
  std::optional<DatasetElement> value;
  std::string ToString() const override { return value ? "optional with a value" : "no value"; }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_DATASET_H_
