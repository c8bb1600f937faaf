// The differences between the interfaces of two models: what callers of their signatures notice.
// Private to lib/policy.
#ifndef GRAPNEL_LIB_POLICY_SIGNATURE_CHANGES_H_
#define GRAPNEL_LIB_POLICY_SIGNATURE_CHANGES_H_

#include <string>
#include <vector>

#include "lib/job/opened_graph.h"

namespace grapnel {

// One difference, in one signature.
struct SignatureChange {
  enum Part { kWhole, kMethod, kInput, kOutput };
  std::string signature;
  Part part = kWhole;
  std::string key;  // of the input or output; else empty
  // True if a caller of the signature as it was may fail, or get another dtype or shape than it
  // can read.
  bool breaks = false;
  // The text after the signature's name in a sentence, "no longer gives 'embedding' (float[?,5])",
  // and what it was before, "'embedding' (float[?,5])".
  std::string what, before;
  // Returns "signature/key".
  std::string Place() const { return key.empty() ? signature : signature + "/" + key; }
};

// Returns the signatures that users call, with all inputs and outputs that the file states: the
// default one first, then by name. For the graph of one signature, this signature alone.
std::vector<Signature> InterfaceOf(const OpenedGraph& opened);

// Returns the differences from `before` to `now`, in the order of `now`'s signatures, and those
// that are gone last. An input that takes less breaks callers, one that takes more does not; an
// output of another dtype, rank or fixed size does. A new input breaks callers unless it has a
// default.
std::vector<SignatureChange> CompareInterfaces(llvm::ArrayRef<Signature> before,
                                               llvm::ArrayRef<Signature> now);

// Return the tensor of a signature, or the signature, with this key or name; null if there is none.
const SignatureTensor* FindByKey(llvm::ArrayRef<SignatureTensor> tensors, llvm::StringRef key);
const Signature* FindByName(llvm::ArrayRef<Signature> signatures, llvm::StringRef name);

// True for the method of signatures that only predict, which need not be recorded, and for none.
bool IsUsualMethod(llvm::StringRef method);

// Returns the type of a signature's tensor, "float[?,3]"; "?" if the dtype is not known.
std::string TensorTypeText(const SignatureTensor& tensor);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_SIGNATURE_CHANGES_H_
