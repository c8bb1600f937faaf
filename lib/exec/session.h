// What outlives a run: variables, hash tables, iterators, by name.
#ifndef GRAPNEL_LIB_EXEC_SESSION_H_
#define GRAPNEL_LIB_EXEC_SESSION_H_

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/helper_threads.h"
#include "lib/exec/tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Thread-safe. Several executors may share one: an initialiser, a training step, an evaluation.
class Session {
 public:
  // The resource of this name, made by `make` when there is none yet. `container` is the attribute
  // of that name, most often empty.
  ObjectRef FindOrMake(llvm::StringRef container, llvm::StringRef name,
                       llvm::function_ref<ObjectRef()> make);
  // False when there is none.
  bool Forget(const Object& object);

  // (name, resource), sorted by name. Those of a container are called "container/name".
  std::vector<std::pair<std::string, ObjectRef>> Resources() const;

  // For the plans that run in this session.
  HelperThreads& helpers() { return helpers_; }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, ObjectRef> resources_;
  HelperThreads helpers_;
};

// A variable: VarHandleOp's or, of the old kind, VariableV2's. Values are replaced, never written
// to while somebody else reads them.
class Variable : public Object {
 public:
  Variable(std::string name, DataType dtype, Shape shape)
      : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)) {}

  const std::string& name() const { return name_; }
  DataType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }  // what values it takes
  Tensor Get() const;                            // no tensor: no value yet
  Expected<Tensor> Read() const;                 // an error when there is no value yet
  void Set(Tensor value);
  // Calls update(&value) with no other update between. `value` owns its buffer alone if nobody
  // reads it at the time.
  Error Update(llvm::function_ref<Error(Tensor* value)> update);
  std::string ToString() const override;

 private:
  std::string name_;
  DataType dtype_;
  Shape shape_;
  mutable std::mutex mutex_;
  Tensor value_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_SESSION_H_
