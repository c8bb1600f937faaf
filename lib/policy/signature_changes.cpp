#include "lib/policy/signature_changes.h"

#include <algorithm>

#include "lib/io/signature.h"
#include "lib/ir/find.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Returns why a reader of values of shape `a` cannot read those of `b` as it did; `fixes` tells
// whether a size that became fixed is such a reason, as for what callers pass.
std::string WhyNarrower(const Shape& a, const Shape& b, bool fixes) {
  if (!b.known_rank()) return "";
  if (!a.known_rank()) return fixes ? "the rank was open and is fixed" : "";
  if (a.rank() != b.rank()) return "another rank";
  std::string why;
  for (int i = 0; i < a.rank(); ++i) {
    if (!b.IsKnown(i) || a.dim(i) == b.dim(i)) continue;
    if (a.IsKnown(i)) return "another size";
    if (fixes) why = "a size that was open is fixed";
  }
  return why;
}

// Returns what differs between shapes that WhyNarrower has nothing to say of.
std::string WhatIsOpen(const Shape& a, const Shape& b) {
  if (a.known_rank() != b.known_rank())
    return b.known_rank() ? "the rank is fixed" : "the rank is open";
  for (int i = 0; i < a.rank(); ++i)
    if (a.IsKnown(i) && !b.IsKnown(i)) return "a size that was fixed is open";
  return "a size is fixed";
}

std::vector<Signature> DefaultFirst(std::vector<Signature> signatures) {
  std::stable_partition(signatures.begin(), signatures.end(), [](const Signature& signature) {
    return signature.name == kDefaultSignature;
  });
  return signatures;
}

std::string Described(const SignatureTensor& tensor) {
  return Sentence("'{0}' ({1})", llvm::StringRef(tensor.key), TensorTypeText(tensor));
}

std::string Described(llvm::ArrayRef<SignatureTensor> tensors) {
  if (tensors.empty()) return "nothing";
  return llvm::join(llvm::map_range(tensors, [](const auto& one) { return Described(one); }), ", ");
}

// Compares one signature of two models.
class Comparison {
 public:
  Comparison(const Signature& before, const Signature& now, std::vector<SignatureChange>* changes)
      : before_(before), now_(now), changes_(*changes) {}

  void Run() {
    CompareMethods();
    part_ = SignatureChange::kInput;
    Compare(before_.inputs, now_.inputs);
    part_ = SignatureChange::kOutput;
    Compare(before_.outputs, now_.outputs);
  }

 private:
  bool AreInputs() const { return part_ == SignatureChange::kInput; }

  void Add(llvm::StringRef key, bool breaks, std::string what, std::string before) {
    changes_.push_back({now_.name, part_, key.str(), breaks, std::move(what), std::move(before)});
  }

  // A server refuses classification and regression unless the signature has this method; any
  // signature can predict.
  void CompareMethods() {
    const std::string &before = before_.method, &now = now_.method;
    if (before == now || before.empty() || now.empty()) return;
    part_ = SignatureChange::kMethod;
    Add("", !IsUsualMethod(before),
        Sentence("now has the method '{0}', and had '{1}'", llvm::StringRef(now),
                 llvm::StringRef(before)),
        Sentence("the method '{0}'", llvm::StringRef(before)));
  }

  void Compare(llvm::ArrayRef<SignatureTensor> before, llvm::ArrayRef<SignatureTensor> now) {
    for (const SignatureTensor& tensor : before) {
      if (const SignatureTensor* same = FindByKey(now, tensor.key))
        CompareTypes(tensor, *same);
      else
        Add(tensor.key, true,
            (AreInputs() ? "no longer takes " : "no longer gives ") + Described(tensor),
            Described(tensor));
    }
    for (const SignatureTensor& tensor : now) {
      if (FindByKey(before, tensor.key)) continue;
      if (!AreInputs())
        Add(tensor.key, false, "also gives " + Described(tensor), "no such output");
      else if (tensor.has_default)
        Add(tensor.key, false, "also takes " + Described(tensor) + ", which has a default",
            "no such input");
      else
        Add(tensor.key, true, "also needs " + Described(tensor), "no such input");
    }
  }

  void CompareTypes(const SignatureTensor& before, const SignatureTensor& now) {
    std::string why;
    if (before.dtype == proto::DT_INVALID) return;  // its type is not recorded
    if (before.dtype != now.dtype)
      why = "another dtype";
    else
      why = WhyNarrower(before.shape, now.shape, AreInputs());
    bool breaks = !why.empty();
    if (!breaks && before.shape == now.shape) return;
    if (!breaks) why = WhatIsOpen(before.shape, now.shape);
    const char* does = AreInputs() ? "takes" : "gives";
    const char* did = AreInputs() ? "took" : "gave";
    Add(now.key, breaks,
        Sentence("now {0} '{1}' as {2}, and {3} {4}: {5}", does, llvm::StringRef(now.key),
                 TensorTypeText(now), did, TensorTypeText(before), why),
        Described(before));
  }

  const Signature &before_, &now_;
  SignatureChange::Part part_ = SignatureChange::kWhole;
  std::vector<SignatureChange>& changes_;
};

}  // namespace

const SignatureTensor* FindByKey(llvm::ArrayRef<SignatureTensor> tensors, llvm::StringRef key) {
  for (const SignatureTensor& tensor : tensors)
    if (tensor.key == key) return &tensor;
  return nullptr;
}

const Signature* FindByName(llvm::ArrayRef<Signature> signatures, llvm::StringRef name) {
  for (const Signature& signature : signatures)
    if (signature.name == name) return &signature;
  return nullptr;
}

bool IsUsualMethod(llvm::StringRef method) {
  return method.empty() || method == "tensorflow/serving/predict";
}

std::string TensorTypeText(const SignatureTensor& tensor) {
  llvm::StringRef type = DataTypeName(tensor.dtype);
  if (!ParseDataType(type)) return "?";
  return type.str() + tensor.shape.ToString();
}

std::vector<Signature> InterfaceOf(const OpenedGraph& opened) {
  const GraphInFile& graph = opened.file().whole ? *opened.file().whole : opened.file();
  std::vector<Signature> interface;
  for (const Signature& signature : graph.signatures) {
    if (IsInternal(signature) || !FindByName(opened.file().signatures, signature.name)) continue;
    interface.push_back(signature);
    for (SignatureTensor& input : interface.back().inputs) {
      auto node = FindNode(graph.module->main, input.tensor);
      input.has_default |= node && node->op() == "PlaceholderWithDefault";
      if (!node) llvm::consumeError(node.takeError());
    }
  }
  return DefaultFirst(std::move(interface));
}

std::vector<SignatureChange> CompareInterfaces(llvm::ArrayRef<Signature> before,
                                               llvm::ArrayRef<Signature> now) {
  std::vector<SignatureChange> changes;
  for (const Signature& signature : now) {
    if (const Signature* same = FindByName(before, signature.name))
      Comparison(*same, signature, &changes).Run();
    else
      changes.push_back({signature.name, SignatureChange::kWhole, "", false,
                         Sentence("is new: it takes {0} and gives {1}", Described(signature.inputs),
                                  Described(signature.outputs)),
                         "no such signature"});
  }
  for (const Signature& signature : DefaultFirst(before.vec())) {
    if (FindByName(now, signature.name)) continue;
    std::string was = Sentence("it took {0} and gave {1}", Described(signature.inputs),
                               Described(signature.outputs));
    changes.push_back({signature.name, SignatureChange::kWhole, "", true, "is gone: " + was,
                       Sentence("signature '{0}'", llvm::StringRef(signature.name))});
  }
  return changes;
}

}  // namespace grapnel
