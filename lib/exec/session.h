// Named resources that outlive a run: variables, hash tables, iterators.
#ifndef GRAPNEL_LIB_EXEC_SESSION_H_
#define GRAPNEL_LIB_EXEC_SESSION_H_

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/helper_threads.h"
#include "lib/exec/tensor.h"
#include "lib/support/public.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Holds resources between runs. Executors that share a session share its variables: for instance,
// one initializes the variables, another trains, a third evaluates. Thread-safe.
class GRAPNEL_PUBLIC Session {
 public:
  // Returns the resource `name` of `container` (an op's attributes shared_name and container).
  // Calls `make` if it does not exist yet.
  ObjectRef FindOrMake(llvm::StringRef container, llvm::StringRef name,
                       llvm::function_ref<ObjectRef()> make);
  // Removes a resource from the session; tensors that refer to the resource keep it alive. Returns
  // false if the session does not have it.
  bool Forget(const Object& object);

  // Returns all resources with their names, sorted by name. A resource in a container is named
  // "container/name".
  std::vector<std::pair<std::string, ObjectRef>> Resources() const;

  // The helper threads that the plans of this session share.
  HelperThreads& helpers() { return helpers_; }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, ObjectRef> resources_;
  HelperThreads helpers_;
};

// The variable of a VarHandleOp or, in graphs of TensorFlow 1, of a VariableV2. A value that was
// read does not change afterwards: an update replaces it. Thread-safe.
class GRAPNEL_PUBLIC StoredVariable : public Object {
 public:
  StoredVariable(std::string name, DataType dtype, Shape shape)
      : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)) {}

  const std::string& name() const { return name_; }
  DataType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }  // of the values; may be partly unknown
  Tensor Get() const;                            // an empty Tensor before the first Set
  Expected<Tensor> Read() const;                 // an error before the first Set
  void Set(Tensor value);
  // Calls update(&value) while no other update can run. `update` may change the value in place if
  // its buffer has no other owner, that is, no reader holds the value.
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
