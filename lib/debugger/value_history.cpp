#include "lib/debugger/value_history.h"

namespace grapnel {
namespace {

// Approximate size in bytes of a value without its elements; for loops over scalars this is most of
// the size.
constexpr int64_t kOverhead = 256;

int64_t BytesOf(const Tensor& tensor) {
  if (tensor.dtype() != proto::DT_STRING) return static_cast<int64_t>(tensor.byte_size());
  int64_t bytes = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    bytes += static_cast<int64_t>(tensor.data<std::string>()[i].size());
  return bytes;
}

}  // namespace

void ValueHistory::Add(KeptValue value, bool is_free) {
  Places& places = ports_[value.port];
  value.number = places.count++;
  places.kept.push_back(first_ + static_cast<int64_t>(values_.size()));
  sizes_.push_back(kOverhead + (is_free ? 0 : BytesOf(value.value)));
  bytes_ += sizes_.back();
  values_.push_back(std::move(value));
  // The newest value stays, however large it is.
  while (bytes_ > budget_ && values_.size() > 1) {
    bytes_ -= sizes_.front();
    ports_[values_.front().port].kept.pop_front();
    values_.pop_front();
    sizes_.pop_front();
    ++first_;
  }
}

void ValueHistory::ReplaceLast(const WatchedPort& port, Tensor value) {
  auto found = ports_.find(port);
  if (found == ports_.end() || found->second.kept.empty()) return;
  values_[found->second.kept.back() - first_].value = std::move(value);
}

void ValueHistory::Clear() {
  values_.clear();
  sizes_.clear();
  ports_.clear();
  bytes_ = first_ = 0;
}

int64_t ValueHistory::Count(const WatchedPort& port) const {
  auto found = ports_.find(port);
  return found == ports_.end() ? 0 : found->second.count;
}

const KeptValue* ValueHistory::Find(const WatchedPort& port, int64_t number) const {
  auto found = ports_.find(port);
  if (found == ports_.end() || found->second.kept.empty()) return nullptr;
  const Places& places = found->second;
  int64_t gone = places.count - static_cast<int64_t>(places.kept.size());
  if (number < 0) number = places.count - 1;
  if (number < gone || number >= places.count) return nullptr;
  return &values_[places.kept[number - gone] - first_];
}

}  // namespace grapnel
