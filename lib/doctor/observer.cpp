#include "lib/doctor/observer.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {

Observer::Observer(const Network& network, const TensorWatches& watches) {
  for (const TensorWatches::Entry& entry : watches.entries()) {
    const BodyPort& port = entry.port;
    Key key{port.graph, port.port.node};
    bool is_fed = llvm::is_contained(network.ends().feeds, port);
    if (is_fed) {
      feeds_[key].push_back({port.port.index, &entry.see});
    } else if (port.node().op() == "_Arg") {
      // A function's argument does not run as a node: observe it as an input of its first reader.
      auto readers = network.flow().Readers(port);
      if (readers.empty()) continue;
      const auto& [reader, slot] = readers.front();
      inputs_[{&reader.graph(), reader.id()}].push_back({slot, &entry.see});
    } else {
      outputs_[key].push_back({port.port.index, &entry.see});
    }
  }
}

void Observer::Show(const Wish& wish, llvm::ArrayRef<Tensor> values) {
  if (wish.index >= static_cast<int>(values.size()) || !values[wish.index]) return;
  std::lock_guard lock(mutex_);
  (*wish.see)(step_, values[wish.index]);
}

void Observer::Feed(const BodyPort& port, const Tensor& value) {
  auto found = feeds_.find(Key{port.graph, port.port.node});
  if (found == feeds_.end()) return;
  for (const Wish& wish : found->second) {
    if (wish.index == port.port.index) (*wish.see)(step_, value);
  }
}

bool Observer::Wants(const Node& node) {
  Key key{&node.graph(), node.id()};
  return inputs_.count(key) > 0 || outputs_.count(key) > 0;
}

Error Observer::BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) {
  auto found = inputs_.find(Key{&node.graph(), node.id()});
  if (found == inputs_.end()) return Error::success();
  for (const Wish& wish : found->second) Show(wish, inputs);
  return Error::success();
}

Error Observer::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  auto found = outputs_.find(Key{&node.graph(), node.id()});
  if (found == outputs_.end()) return Error::success();
  for (const Wish& wish : found->second) Show(wish, outputs);
  return Error::success();
}

}  // namespace grapnel
