#include "lib/serve/pages/stored_values.h"

#include <memory>
#include <mutex>

#include "lib/io/variable_tensors.h"
#include "lib/io/variable_values.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {
namespace {

// Reads the values of a graph's variables, each on request.
class VariableReader {
 public:
  explicit VariableReader(const OpenedGraph& opened) : opened_(opened) {}

  NodeId VariableOf(const Node& node) {
    std::call_once(tensors_once_, [&] { tensors_.emplace(opened_.file()); });
    return tensors_->At(node.graph(), {node.id(), 0});
  }

  std::optional<Literal> Read(NodeId variable) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!is_open_) Open();
    auto place = places_.find(variable);
    if (place == places_.end()) return std::nullopt;
    auto value = values_->Read(place->second);
    if (value) return std::move(*value);
    llvm::consumeError(value.takeError());  // as for a constant whose value cannot be read
    return std::nullopt;
  }

 private:
  void Open() {
    is_open_ = true;
    auto values = VariableValues::Open(opened_.file(), opened_.model().variables_prefix);
    if (!values) return llvm::consumeError(values.takeError());
    values_ = std::move(*values);
    for (size_t i = 0; i < values_->variables().size(); ++i)
      places_[values_->variables()[i].node] = i;
  }

  const OpenedGraph& opened_;
  std::once_flag tensors_once_;
  std::optional<VariableTensors> tensors_;
  std::mutex mutex_;
  bool is_open_ = false;
  std::optional<VariableValues> values_;
  llvm::DenseMap<NodeId, size_t> places_;  // each variable's index in values_, by node
};

}  // namespace

std::optional<PageValues> StoredValuesOf(const OpenedGraph& opened) {
  bool has_values =
      !opened.model().variables_prefix.empty() || !opened.file().initial_values.empty();
  if (!has_values) return std::nullopt;
  auto reader = std::make_shared<VariableReader>(opened);
  return PageValues{[reader](const Node& node) { return reader->VariableOf(node); },
                    [reader](NodeId variable) { return reader->Read(variable); }};
}

}  // namespace grapnel
