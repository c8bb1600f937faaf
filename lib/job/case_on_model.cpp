#include "lib/job/case_on_model.h"

#include "lib/io/signature.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

std::vector<std::string> SortedKeys(const std::vector<SignatureTensor>& tensors) {
  std::vector<std::string> keys;
  for (const SignatureTensor& tensor : tensors) keys.push_back(tensor.key);
  llvm::sort(keys);
  return keys;
}

// TensorFlow puts '_' for what no node's name may hold.
std::string AsNodeName(llvm::StringRef key) {
  std::string name;
  for (char c : key) name += llvm::isAlnum(c) || c == '_' || c == '.' ? c : '_';
  return name;
}

// The key that a case calls by `name`; empty: none by name.
std::string KeyNamed(llvm::StringRef name, const std::vector<SignatureTensor>& tensors) {
  for (const SignatureTensor& tensor : tensors) {
    if (tensor.key == name || tensor.tensor == name) return tensor.key;
  }
  return "";
}

// Inputs of a frozen graph are named after the keys.
std::string KeyOfNode(llvm::StringRef name, const std::vector<SignatureTensor>& tensors) {
  llvm::StringRef node = ReadTensorName(name).node;
  for (const SignatureTensor& tensor : tensors) {
    if (node == tensor.key || node == AsNodeName(tensor.key)) return tensor.key;
  }
  return "";
}

}  // namespace

Expected<Case> CaseOnModel(Case values, const OpenedGraph& model, std::string* signature) {
  ASSIGN_OR_RETURN(CaseSignature captured, SignatureOfCase(values.folder));
  bool has_signatures = !llvm::all_of(model.file().signatures, IsInternal);
  if (captured.name.empty() || !has_signatures) return values;
  ASSIGN_OR_RETURN(const Signature* chosen,
                   ChooseSignature(model.model(), model.file(), captured.name));
  auto refuse = [&](const char* what, llvm::StringRef name,
                    const std::vector<SignatureTensor>& tensors) {
    std::string where = " of signature '" + captured.name + "'";
    return Annotate(values.folder, NotFound(what, name, SortedKeys(tensors), where));
  };
  for (size_t i = 0; i < values.feeds.size(); ++i) {
    std::string key = KeyNamed(captured.feeds[i], chosen->inputs);
    if (key.empty()) key = KeyOfNode(captured.feeds[i], chosen->inputs);
    if (key.empty()) return refuse("input", captured.feeds[i], chosen->inputs);
    values.feeds[i].tensor = key;
  }
  std::vector<std::string> sorted = SortedKeys(chosen->outputs);
  bool by_place = sorted.size() == values.fetches.size() &&
                  llvm::none_of(captured.fetches, [&](const std::string& name) {
                    return !KeyNamed(name, chosen->outputs).empty();
                  });
  for (size_t i = 0; i < values.fetches.size(); ++i) {
    std::string key = by_place ? sorted[i] : KeyNamed(captured.fetches[i], chosen->outputs);
    if (key.empty()) return refuse("output", captured.fetches[i], chosen->outputs);
    values.fetches[i].tensor = key;
  }
  *signature = captured.name;
  return values;
}

}  // namespace grapnel
