// Cases: a graph with its input values and expected output values, in a folder or a zip archive.
#ifndef GRAPNEL_LIB_IO_CASE_H_
#define GRAPNEL_LIB_IO_CASE_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// A case, as in case.json: {"feeds": {tensor: file.npy}, "fetches": {tensor: file.npy}, "rtol":
// number, "atol": one number, or {tensor: number}}, and for graphs with state "variables": {node:
// file.npy}, "init": file, "steps": [{"feeds": ..., "fetches": ...}, ...]. If the case was captured
// from a signature, "signature" is the signature's name; feeds and fetches may then be named by the
// signature's keys, and "tensors" maps these keys to tensors of the case's graph: {key: tensor}, or
// {"feeds": {key: tensor}, "fetches": {key: tensor}} if an argument and a result have the same key.
// Other keys are ignored. The lists below are in the file's order.
struct GRAPNEL_PUBLIC Case {
  struct Feed {
    std::string tensor;  // "x:0"
    std::string file;    // path of the .npy file, including the folder
  };
  struct Fetch {
    std::string tensor;
    std::string file;
    double atol = 0;  // |got - expected| <= max(atol + rtol * |expected|, 2 ulp)
  };
  std::string folder;  // or the zip archive, which paths name like a folder
  std::string graph;   // path: graph.pb, or else graph.pbtxt, graph.pb.gz, graph.pbtxt.gz
  std::vector<Feed> feeds;
  std::vector<Fetch> fetches;
  double rtol = 0;
  // The session's state before the first run: variables (`tensor` is the variable's node), and a
  // graph whose node `kInitNode` creates the rest (tables, iterators). Empty: there is no state.
  std::vector<Feed> variables;
  std::string init_graph;
  // The runs after the first, in order; each run continues with the variables and other state that
  // the previous run left. All runs have the same feeds and fetches, but each run has its own files
  // with values.
  struct Step {
    std::vector<std::string> feeds, fetches;
  };
  std::vector<Step> steps;
};

inline constexpr llvm::StringLiteral kInitNode = "init";

// True if `folder`, or the zip archive of that name, has a case.json with feeds or fetches (other
// tools use the file name for other contents), or one that cannot be read, as LoadCase then
// reports.
GRAPNEL_PUBLIC bool IsCaseFolder(llvm::StringRef folder);

// Reads case.json only, not the files with the graph and the values; fails if there is no graph
// file. Errors name the file or the folder, and for a syntax error the line.
GRAPNEL_PUBLIC Expected<Case> LoadCase(llvm::StringRef folder);

// The signature of a case that was captured from one; its feeds and fetches have the signature's
// keys as names.
struct GRAPNEL_PUBLIC CaseSignature {
  std::string name;                         // empty: the case has no signature
  std::vector<std::string> feeds, fetches;  // names as in case.json, in the order of Case
};
// Returns the signature of a case. Fails if case.json cannot be read or "signature" is not a name.
GRAPNEL_PUBLIC Expected<CaseSignature> SignatureOfCase(llvm::StringRef folder);

// Writes `folder`/case.json with feeds, fetches, tolerances and variables, but no init graph, steps
// or signature. The JSON has only the last component of each file's path; the caller writes the
// graph and the values.
GRAPNEL_PUBLIC Error SaveCase(llvm::StringRef folder, const Case& values);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_CASE_H_
