// The seeds of mutants: files and folders that commands read.
#ifndef GRAPNEL_TESTS_FUZZ_MUTANT_SEEDS_H_
#define GRAPNEL_TESTS_FUZZ_MUTANT_SEEDS_H_

#include <map>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Seeds by the command that reads them.
enum class SeedKind {
  kGraph,       // a file
  kCase,        // a folder with case.json, or a zip file of one
  kSavedModel,  // a folder with saved_model.pb, .pbtxt or .cpb
  kDebug,       // a folder of TensorFlow's debugger
  kDumps,       // a folder with index.json, timings.json and ledger.jsonl
  kCheckpoint,  // a folder with graph.gtxt, which reads the checkpoint beside it
  kCluster,     // devices as JSON
  kLedger,      // of rewrites, as lines of JSON
  kRewriterConfig,
};
constexpr int kSeedKinds = 9;

struct Seed {
  std::string path;
  std::vector<std::string> files;  // below `path`; for a file: its own name
  bool is_folder = false;          // a folder, or an archive whose members are `files`
};
using Seeds = std::map<SeedKind, std::vector<Seed>>;

// Returns the seeds below these folders, sorted, without files above 256 KiB and the seeds that
// contain them. Files are graphs, except cluster*.json, *.jsonl and rewriter_config*. A case in a
// zip file is a case, its graph is a graph, and so are the bytes of the zip file.
Seeds FindSeeds(llvm::ArrayRef<std::string> folders);

// Reads a file of a seed; the path may lead into an archive.
std::string ReadSeed(const std::string& path);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_MUTANT_SEEDS_H_
