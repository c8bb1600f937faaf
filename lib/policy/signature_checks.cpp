// The check of what callers of a model's signatures rely on.
#include <map>

#include "lib/policy/policy_checks.h"
#include "lib/policy/signature_changes.h"
#include "lib/support/name_list.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// True if the policy states what the model has now, so that the team has agreed on the change.
bool IsAgreed(llvm::ArrayRef<Signature> recorded, llvm::ArrayRef<Signature> now,
              const SignatureChange& change) {
  const Signature *agreed = FindByName(recorded, change.signature),
                  *is = FindByName(now, change.signature);
  if (!agreed || !is) return false;
  if (change.part == SignatureChange::kWhole) return true;
  if (change.part == SignatureChange::kMethod) return agreed->method == is->method;
  bool is_input = change.part == SignatureChange::kInput;
  const SignatureTensor *stated =
                            FindByKey(is_input ? agreed->inputs : agreed->outputs, change.key),
                        *has = FindByKey(is_input ? is->inputs : is->outputs, change.key);
  return stated && has && stated->dtype == has->dtype && stated->shape == has->shape;
}

bool AreAtSamePlace(const SignatureChange& a, const SignatureChange& b) {
  return a.signature == b.signature && a.part == b.part && a.key == b.key;
}

// Returns the changes from the interface that the policy records, and those from BASE that the
// policy says nothing of.
std::vector<SignatureChange> ChangesOf(CheckedModel& model, std::vector<Signature> recorded) {
  std::vector<Signature> now = InterfaceOf(model.opened()), base;
  if (model.base()) base = InterfaceOf(*model.base());
  // The graph of one signature says nothing of the others.
  if (model.opened().file().whole) {
    auto is_other = [&](const Signature& one) { return !FindByName(now, one.name); };
    llvm::erase_if(recorded, is_other);
    llvm::erase_if(base, is_other);
  }
  std::vector<SignatureChange> changes = CompareInterfaces(recorded, now);
  llvm::erase_if(changes, [&](const SignatureChange& change) {
    bool is_new = change.part == SignatureChange::kWhole && !change.breaks &&
                  !FindByName(recorded, change.signature);
    return is_new && model.base();  // BASE may have it
  });
  size_t of_policy = changes.size();
  for (SignatureChange& change : CompareInterfaces(base, now)) {
    bool is_known =
        llvm::any_of(llvm::ArrayRef(changes).take_front(of_policy),
                     [&](const SignatureChange& other) { return AreAtSamePlace(change, other); });
    bool may_be_there = model.base() && !is_known && !IsAgreed(recorded, now, change);
    if (may_be_there) changes.push_back(std::move(change));
  }
  return changes;
}

// Adds a finding for each difference. Signatures that changed alike, as those of one network, share
// one.
void Report(llvm::ArrayRef<SignatureChange> changes, PolicyFindings& findings) {
  std::vector<std::vector<const SignatureChange*>> alike;
  for (const SignatureChange& change : changes) {
    auto same = llvm::find_if(alike, [&](const auto& group) {
      return group[0]->what == change.what && group[0]->breaks == change.breaks;
    });
    if (same == alike.end()) {
      alike.push_back({&change});
    } else {
      same->push_back(&change);
    }
  }
  for (const auto& group : alike) {
    const SignatureChange& first = *group[0];
    std::vector<std::string> places, others;
    for (const SignatureChange* change : group) places.push_back(change->Place());
    for (const SignatureChange* change : llvm::ArrayRef(group).drop_front())
      others.push_back(change->signature);
    std::string what = Sentence("signature {0} {1}", llvm::StringRef(first.signature), first.what);
    if (!others.empty()) what += "; the same for " + NameList(others);
    findings.AddAs(
        first.breaks ? findings.severity() : FindingSeverity::kNote, std::move(places),
        std::move(what), first.before,
        first.breaks
            ? "keep it, or change the callers first: `except` or a waiver permits the change"
            : "nothing, if it is meant: callers of the previous model are not affected");
  }
}

}  // namespace

Judged CheckSignatures(CheckedModel& model, const PolicyRule& rule, PolicyFindings& findings) {
  if (rule.signatures.empty() && !model.base())
    return "the policy records no signature (--init writes them), and there is no BASE (--against)";
  bool has_any = !rule.signatures.empty() || !InterfaceOf(model.opened()).empty() ||
                 !InterfaceOf(*model.base()).empty();
  if (!has_any) return "neither MODEL nor BASE has a signature";
  const std::vector<Glob>* except = rule.FindGlobs("except");
  std::vector<SignatureChange> changes = ChangesOf(model, rule.signatures);
  llvm::erase_if(changes, [&](const SignatureChange& change) {
    return except && (FitsAny(*except, change.signature) || FitsAny(*except, change.Place()));
  });
  Report(changes, findings);
  return std::string();
}

}  // namespace grapnel
