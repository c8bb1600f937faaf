// Applies a case that was captured from a signature to any model with that signature.
#ifndef GRAPNEL_LIB_JOB_CASE_ON_MODEL_H_
#define GRAPNEL_LIB_JOB_CASE_ON_MODEL_H_

#include <string>
#include <vector>

#include "lib/io/case.h"
#include "lib/job/run.h"

namespace grapnel {

struct CaseOfModel {
  // The case. If `signature` is not empty, the case's feeds and fetches are renamed to the model's
  // tensors.
  Case values;
  // The signature's keys; the tensors' names if the case has no signature.
  std::vector<std::string> feed_names, fetch_names;
  // The names of the feeds and fetches in the case's own graph.
  std::vector<std::string> own_feeds, own_fetches;
  std::string signature;  // of the model; empty: the case's names are kept
};

// Maps a case's feeds and fetches to tensors of `model` by their keys. A case without a signature
// is returned unchanged, and so is any case if the model has no signatures.
//
// Cases captured before case.json had keys contain a frozen graph: its inputs are named after the
// keys, and its results are in the order of the sorted keys. Values that a function captured are
// feeds of such a graph too; they are dropped, since the model has its own. Errors: those of
// SignatureOfCase; the model lacks the signature; the signature lacks a feed or fetch (the error
// suggests keys), or has another number of outputs than a case without keys.
Expected<CaseOfModel> CaseOnModel(Case values, const OpenedGraph& model);

// Like CaseOnModel, for a model opened from the case itself: keeps the tensors, and sets feed_names
// and fetch_names to the keys.
Expected<CaseOfModel> CaseOnItself(Case values);

// Fills `run`, a run of `model`, with the case's signature, the feeds that `run` does not have yet,
// and the fetches if `run` has none. Errors: a value cannot be read; its dtype or shape differs
// from the model's tensor (the error names the feed); the outputs need a placeholder that the case
// lacks.
Error FillFromCase(const CaseOfModel& on_model, const OpenedGraph& model, RunRequest* run);

// The inputs and outputs with the same keys in two graphs, and the keys.
struct SameEnds {
  struct End {
    std::string a, b, key;
  };
  // True if the lists were made by comparing keys; they are empty if the graphs share no key.
  bool by_keys = false;
  std::vector<End> inputs, outputs;
};
// Pairs the inputs and outputs of two graphs by the keys of `signature`; an empty name means the
// default signature of `a`. A case captured from a signature has its keys; of two cases, pairs only
// the outputs, by tensor names in a case without a signature. Otherwise there are no keys to
// compare, and `by_keys` is false, if a graph is a case without a signature, if a graph that is not
// a case has no signatures, or if neither is a case and `b` lacks the signature. Errors: those of
// CaseOnModel; `a` lacks the signature.
Expected<SameEnds> FindSameEnds(const OpenedGraph& a, const OpenedGraph& b,
                                llvm::StringRef signature);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_CASE_ON_MODEL_H_
