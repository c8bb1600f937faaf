#include "lib/exec/rendezvous.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {

void Rendezvous::Begin(int parts) {
  std::lock_guard lock(mutex_);
  values_.clear();
  failure_.clear();
  is_stuck_ = false;
  running_ = parts;
}

void Rendezvous::End(llvm::StringRef failure) {
  std::lock_guard lock(mutex_);
  --running_;
  if (failure_.empty()) failure_ = failure.str();
  is_stuck_ |= IsStuck();
  changed_.notify_all();
}

std::string Rendezvous::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

bool Rendezvous::IsStuck() const {
  return running_ <= 0 && !wanted_.empty() &&
         llvm::none_of(wanted_, [&](const std::string& key) { return values_.count(key) > 0; });
}

void Rendezvous::Send(llvm::StringRef key, Tensor value) {
  std::lock_guard lock(mutex_);
  values_[key.str()] = std::move(value);
  changed_.notify_all();
}

Expected<Tensor> Rendezvous::Receive(llvm::StringRef name) {
  std::string key = name.str();
  std::unique_lock lock(mutex_);
  auto at = values_.find(key);
  if (at == values_.end()) {
    auto mine = wanted_.insert(key);
    --running_;
    if (IsStuck()) {
      is_stuck_ = true;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] {
      at = values_.find(key);
      return at != values_.end() || is_stuck_ || !failure_.empty();
    });
    wanted_.erase(mine);
    ++running_;
  }
  if (at != values_.end()) {
    Tensor value = std::move(at->second);
    values_.erase(at);
    return value;
  }
  if (!failure_.empty()) return MakeError("stopped, because another device failed");
  return MakeError("nobody is left to send it");
}

}  // namespace grapnel
