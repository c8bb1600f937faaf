// The values of a model's variables.
#ifndef GRAPNEL_LIB_IO_VARIABLE_VALUES_H_
#define GRAPNEL_LIB_IO_VARIABLE_VALUES_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/io/bundle.h"
#include "lib/io/open.h"
#include "lib/io/saved_variables.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// The own variables of a graph, and where their values are: in the model's checkpoint, else in the
// model itself (InitialValue). Move-only. Not thread-safe.
class VariableValues {
 public:
  // `prefix`: the checkpoint, as in Model::variables_prefix; empty: there is none. `graph` must
  // outlive this object. Errors: those of Bundle::Open and BindVariables.
  static Expected<VariableValues> Open(const GraphInFile& graph, llvm::StringRef prefix);

  // The variables of OwnVariablesOf, with the names of their objects (VariablesOfObjects) and, where
  // they are in the checkpoint, the shapes of their values.
  llvm::ArrayRef<SavedVariable> variables() const { return variables_; }
  // True if there are variables, but no variable has a value.
  bool Lack() const;

  // Returns the value of variable `i`; nullopt if it has none. `check`: as in Bundle::Read.
  Expected<std::optional<Literal>> Read(size_t i, bool check = false);
  // Returns the entry of variable `i` in the checkpoint; nullopt if its value is not from there.
  Expected<std::optional<Bundle::Entry>> Describe(size_t i) const;
  // Returns the reason why variable `i` has no value; empty if it has one.
  std::string WhyNone(size_t i) const;

 private:
  explicit VariableValues(const GraphInFile& graph) : graph_(&graph) {}
  Error Bind(llvm::StringRef prefix);
  const InitialValue* InitialOf(const SavedVariable& variable) const;

  const GraphInFile* graph_;
  std::optional<Bundle> bundle_;
  std::vector<SavedVariable> variables_;
  llvm::DenseMap<NodeId, std::string> keys_;     // in the checkpoint
  llvm::DenseMap<NodeId, std::string> reasons_;  // VariableBinding::Unbound
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_VARIABLE_VALUES_H_
