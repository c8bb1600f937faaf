#include "lib/io/variable_values.h"

#include "lib/io/variable_binding.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

Expected<VariableValues> VariableValues::Open(const GraphInFile& graph, llvm::StringRef prefix) {
  VariableValues values(graph);
  values.variables_ = VariablesOfObjects(graph);
  llvm::erase_if(values.variables_, [](const SavedVariable& one) { return !one.is_own; });
  if (!prefix.empty()) RETURN_IF_ERROR(values.Bind(prefix));
  return values;
}

Error VariableValues::Bind(llvm::StringRef prefix) {
  ASSIGN_OR_RETURN(bundle_, Bundle::Open(prefix));
  ASSIGN_OR_RETURN(VariableBinding binding, BindVariables(*graph_, &*bundle_));
  for (VariableBinding::Bound& bound : binding.bound) keys_[bound.variable] = std::move(bound.key);
  for (VariableBinding::Unbound& unbound : binding.unbound)
    reasons_[unbound.variable] = std::move(unbound.reason);
  for (SavedVariable& variable : variables_) {
    auto key = keys_.find(variable.node);
    if (key == keys_.end()) continue;
    ASSIGN_OR_RETURN(Bundle::Entry entry, bundle_->Describe(key->second));
    variable.shape = entry.shape;
  }
  return Error::success();
}

const InitialValue* VariableValues::InitialOf(const SavedVariable& variable) const {
  llvm::StringRef node = graph_->module->main.node(variable.node).name();
  for (const InitialValue& initial : graph_->initial_values)
    if (initial.node == node) return &initial;
  return nullptr;
}

bool VariableValues::Lack() const {
  return !variables_.empty() && llvm::none_of(variables_, [&](const SavedVariable& variable) {
    return keys_.count(variable.node) || InitialOf(variable);
  });
}

Expected<std::optional<Literal>> VariableValues::Read(size_t i, bool check) {
  const SavedVariable& variable = variables_[i];
  if (auto key = keys_.find(variable.node); key != keys_.end()) {
    ASSIGN_OR_RETURN(Literal value, bundle_->Read(key->second, check));
    return std::optional<Literal>(std::move(value));
  }
  const InitialValue* initial = InitialOf(variable);
  return initial ? std::optional<Literal>(initial->value) : std::nullopt;
}

Expected<std::optional<Bundle::Entry>> VariableValues::Describe(size_t i) const {
  auto key = keys_.find(variables_[i].node);
  if (key == keys_.end()) return std::optional<Bundle::Entry>();
  ASSIGN_OR_RETURN(Bundle::Entry entry, bundle_->Describe(key->second));
  return std::optional<Bundle::Entry>(std::move(entry));
}

std::string VariableValues::WhyNone(size_t i) const {
  const SavedVariable& variable = variables_[i];
  if (keys_.count(variable.node) || InitialOf(variable)) return "";
  std::string why = reasons_.lookup(variable.node);
  return why.empty() ? "the model comes without a checkpoint" : why;
}

}  // namespace grapnel
