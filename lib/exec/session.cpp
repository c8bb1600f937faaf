#include "lib/exec/session.h"

namespace grapnel {

ObjectRef Session::FindOrMake(llvm::StringRef container, llvm::StringRef name,
                              llvm::function_ref<ObjectRef()> make) {
  std::string key = container.empty() ? name.str() : (container + "/" + name).str();
  std::lock_guard lock(mutex_);
  ObjectRef& object = resources_[key];
  if (!object) object = make();
  return object;
}

bool Session::Forget(const Object& object) {
  std::lock_guard lock(mutex_);
  for (auto it = resources_.begin(); it != resources_.end(); ++it) {
    if (it->second.get() != &object) continue;
    resources_.erase(it);
    return true;
  }
  return false;
}

std::vector<std::pair<std::string, ObjectRef>> Session::Resources() const {
  std::lock_guard lock(mutex_);
  return {resources_.begin(), resources_.end()};
}

Tensor StoredVariable::Get() const {
  std::lock_guard lock(mutex_);
  return value_;
}

Expected<Tensor> StoredVariable::Read() const {
  Tensor value = Get();
  if (!value)
    return MakeError("variable '{0}' has no value yet: nothing has initialized it", name_);
  return value;
}

void StoredVariable::Set(Tensor value) {
  std::lock_guard lock(mutex_);
  value_ = std::move(value);
}

Error StoredVariable::Update(llvm::function_ref<Error(Tensor* value)> update) {
  std::lock_guard lock(mutex_);
  return update(&value_);
}

std::string StoredVariable::ToString() const {
  return ("variable '" + name_ + "' of " + DataTypeName(dtype_) + shape_.ToString()).str();
}

}  // namespace grapnel
