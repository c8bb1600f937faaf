#include "lib/job/session_values.h"

#include "lib/io/bundle.h"
#include "lib/io/bundle_writer.h"
#include "lib/io/saved_variables.h"
#include "lib/ir/fits_shape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Returns "'a', 'b' and 3 more".
std::string Listed(llvm::ArrayRef<std::string> names) {
  constexpr size_t kMost = 4;
  std::string text = "'" + llvm::join(names.take_front(kMost), "', '") + "'";
  if (names.size() > kMost) text += " and " + std::to_string(names.size() - kMost) + " more";
  return text;
}

}  // namespace

std::string TypeAndShape(DataType dtype, const Shape& shape) {
  bool is_scalar = shape.known_rank() && shape.rank() == 0;
  return (DataTypeName(dtype) + (is_scalar ? "" : shape.ToString())).str();
}

Tensor ValueOfVariable(const Session& session, llvm::StringRef container, llvm::StringRef name) {
  std::string key = container.empty() ? name.str() : (container + "/" + name).str();
  for (const auto& [known, object] : session.Resources()) {
    if (known != key) continue;
    auto* variable = dynamic_cast<StoredVariable*>(object.get());
    return variable ? variable->Get() : Tensor();
  }
  return Tensor();
}

Error SetVariable(Session& session, const VariableInfo& variable, const Tensor& value) {
  if (value.dtype() != variable.dtype || !FitsShape(Shape(value.dims()), variable.shape)) {
    return MakeError("variable '{0}' is {1}, but the given value is {2}", variable.name,
                     TypeAndShape(variable.dtype, variable.shape),
                     TypeAndShape(value.dtype(), Shape(value.dims())));
  }
  ObjectRef object = session.FindOrMake(variable.container, variable.name, [&] {
    return ObjectRef(new StoredVariable(variable.name, variable.dtype, variable.shape));
  });
  auto* stored = dynamic_cast<StoredVariable*>(object.get());
  if (!stored)
    return MakeError("'{0}' is {1}; a variable was expected", variable.name, object->ToString());
  stored->Set(value);
  return Error::success();
}

Error SetInitialValues(Session& session, llvm::ArrayRef<VariableInfo> variables) {
  for (const VariableInfo& variable : variables) {
    if (variable.initial.dtype() == proto::DT_INVALID) continue;
    if (ValueOfVariable(session, variable.container, variable.name)) continue;
    ASSIGN_OR_RETURN(Tensor value, Tensor::FromLiteral(variable.initial));
    RETURN_IF_ERROR(SetVariable(session, variable, value));
  }
  return Error::success();
}

std::vector<VariableInfo> VariablesOfGraph(const Graph& main) {
  std::vector<VariableInfo> variables;
  for (Node node : main.nodes()) {
    if (node.op() != "VarHandleOp" && node.op() != "VariableV2" && node.op() != "Variable")
      continue;
    std::optional<AttrView> shape = node.Attr("shape");
    VariableInfo info;
    info.name = NameOfVariable(node);
    info.node = node.name().str();
    info.container = node.GetString("container");
    info.dtype = node.GetType("dtype");
    info.shape = shape ? shape->AsShape().value_or(Shape::Unknown()) : Shape::Unknown();
    bool is_known = llvm::any_of(variables, [&](const VariableInfo& other) {
      return other.name == info.name && other.container == info.container;
    });
    if (!is_known) variables.push_back(std::move(info));
  }
  return variables;
}

Error WriteCheckpoint(const Session& session, llvm::ArrayRef<VariableInfo> variables, int64_t step,
                      llvm::StringRef prefix) {
  ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(prefix));
  for (const VariableInfo& variable : variables) {
    Tensor value = ValueOfVariable(session, variable.container, variable.name);
    if (!value) return MakeError("variable '{0}' has no value", variable.name);
    RETURN_IF_ERROR(writer->Add(variable.name, value.ToLiteral()));
  }
  RETURN_IF_ERROR(writer->Add(kStepKey, Literal::Integers(proto::DT_INT64, {}, {step})));
  return writer->Finish();
}

Expected<int64_t> ReadCheckpoint(Session& session, llvm::ArrayRef<VariableInfo> variables,
                                 llvm::StringRef prefix) {
  ASSIGN_OR_RETURN(Bundle bundle, Bundle::Open(prefix));
  std::vector<std::string> missing, others;
  for (const VariableInfo& variable : variables) {
    if (!bundle.Has(variable.name)) missing.push_back(variable.name);
  }
  for (llvm::StringRef name : bundle.names()) {
    bool is_known = name == kStepKey || llvm::any_of(variables, [&](const VariableInfo& variable) {
                      return variable.name == name;
                    });
    if (!is_known) others.push_back(name.str());
  }
  if (!missing.empty() || !others.empty()) {
    std::string text;
    if (!missing.empty())
      text = "the model has " + Listed(missing) + ", which the checkpoint lacks";
    if (!others.empty())
      text += (text.empty() ? "it has " : "; the checkpoint has ") + Listed(others) +
              ", which the model lacks";
    return MakeError("{0}: is a checkpoint of another model: {1}", prefix, text);
  }
  std::vector<Tensor> values;
  for (const VariableInfo& variable : variables) {
    ASSIGN_OR_RETURN(Literal value, bundle.Read(variable.name));
    if (value.dtype() != variable.dtype || !FitsShape(Shape(value.dims()), variable.shape)) {
      return MakeError(
          "{0}: is a checkpoint of another model: variable '{1}' is {2} there, but {3} in the "
          "model",
          prefix, variable.name, TypeAndShape(value.dtype(), Shape(value.dims())),
          TypeAndShape(variable.dtype, variable.shape));
    }
    ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromLiteral(value));
    values.push_back(std::move(tensor));
  }
  if (!bundle.Has(kStepKey))
    return MakeError("{0}: contains no step: it was not written by `grapnel train`", prefix);
  ASSIGN_OR_RETURN(Literal step, bundle.Read(kStepKey));
  for (size_t i = 0; i < values.size(); ++i)
    RETURN_IF_ERROR(SetVariable(session, variables[i], values[i]));
  return step.AsInt(0);
}

}  // namespace grapnel
