// Runs commands in turn on randomly changed files and folders, many in one process: none may crash,
// hang, exceed the memory limit, or fail without a message.
//
//   grapnel_mutants SEED COUNT FOLDER... [--protos] [--first N] [--only PART] [-v]
//
// FOLDER contains the seeds (mutant_seeds.h); their bytes are changed, or with --protos the
// messages of their graphs. Input N of a seed is the same in every run. Before each input the
// program writes to the file $FUZZ_AT (if set) what it is about to do, so that the parent process
// knows the input that ended it; the commands' stderr goes to the file $FUZZ_AT.err. --only selects
// seeds whose path contains PART. With COUNT 1 and --first N the input is kept, under the name
// that is printed.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lib/io/open.h"
#include "lib/ir/import.h"
#include "lib/proto/saved_model.pb.h"
#include "lib/support/gzip.h"
#include "llvm/ADT/StringExtras.h"
#include "tests/fuzz/byte_mutation.h"
#include "tests/fuzz/in_process.h"
#include "tests/fuzz/mutant_commands.h"
#include "tests/fuzz/mutant_seeds.h"
#include "tests/fuzz/proto_mutation.h"

namespace grapnel {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kBudget = 512ll << 20;
struct Settings {
  uint64_t seed = 0, count = 0, first = 0;
  std::vector<std::string> folders;
  std::string only;
  bool protos = false, verbose = false;
};

// The mutant below the folder in/, and the command to run on it.
struct Input {
  std::string what;
  std::string node;  // of the graph, where one is known
  std::string in;    // path
};

void Write(const fs::path& path, llvm::StringRef bytes) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<int64_t>(bytes.size()));
}

std::string Gzipped(llvm::StringRef bytes) {
  std::string packed;
  llvm::raw_string_ostream os(packed);
  GzipStream gzip(&os);
  gzip << bytes;
  gzip.Finish();
  return os.str();
}

// Returns a node name: a word of the file, or one that most graphs have.
std::string NodeIn(Random& random, llvm::StringRef bytes) {
  if (bytes.empty() || random.OneIn(3)) return "y";
  for (int tries = 0; tries < 20; ++tries) {
    llvm::StringRef rest = bytes.drop_front(random.Below(static_cast<int64_t>(bytes.size())));
    rest = rest.drop_until(llvm::isAlpha);
    llvm::StringRef word = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (word.size() > 2) return word.take_front(40).str();
  }
  return "y";
}

// Mutates the bytes of one file, or of two.
Input MutateFiles(Random& random, const Seed& seed, const Seed& other) {
  bool is_folder = seed.is_folder;
  fs::path name = fs::path(seed.path).filename();
  if (is_folder && name.extension() == ".zip") name.replace_extension();
  Input input;
  input.in = (fs::path("in") / name).string();
  size_t changed = random.Below(static_cast<int64_t>(seed.files.size()));
  for (size_t i = 0; i < seed.files.size(); ++i) {
    const std::string& file = seed.files[i];
    std::string bytes = ReadSeed(is_folder ? seed.path + "/" + file : seed.path);
    if (i == changed || (is_folder && random.OneIn(12))) {
      bool pack_first = random.OneIn(24), pack_then = !pack_first && random.OneIn(12);
      if (pack_first) bytes = Gzipped(bytes);
      std::string another =
          ReadSeed(other.is_folder ? other.path + "/" + random.Of(other.files) : other.path);
      input.what += file + ": " + MutateBytes(random, bytes, another) + "; ";
      input.node = NodeIn(random, bytes);
      if (pack_then) bytes = Gzipped(bytes);
    }
    Write(is_folder ? fs::path(input.in) / file : fs::path(input.in), bytes);
  }
  return input;
}

// Serializes the graph in the ways that programs exchange graphs: alone, as text, in a SavedModel,
// compressed.
std::string Dressed(Random& random, const proto::GraphDef& graph) {
  switch (random.Below(8)) {
    case 0: {
      proto::SavedModel model;
      *model.add_meta_graphs()->mutable_graph_def() = graph;
      return model.SerializeAsString();
    }
    case 1:
      return Gzipped(graph.SerializeAsString());
    case 2:
      return graph.Utf8DebugString();
    default:
      return graph.SerializeAsString();
  }
}

// Mutates the messages of a graph; other files of a case folder stay. False if the seed is not a
// graph, or too damaged.
bool MutateMessages(Random& random, const Seed& seed, Input& input) {
  bool is_folder = seed.is_folder;
  auto module = OpenGraph(seed.path);
  if (!module) {
    llvm::consumeError(module.takeError());
    return false;
  }
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  ExportGraphDef(**module, os);
  proto::GraphDef graph;
  if (!graph.ParseFromString(os.str())) return false;
  input.what = MutateGraphDef(random, graph);
  if (graph.node_size())
    input.node = graph.node(static_cast<int>(random.Below(graph.node_size()))).name();
  if (input.node.empty()) input.node = "y";
  fs::path in = fs::path("in") / fs::path(seed.path).filename();
  if (is_folder && in.extension() == ".zip") in.replace_extension();
  if (!is_folder) in.replace_extension("pb");
  input.in = in.string();
  if (!is_folder) {
    Write(in, Dressed(random, graph));
    return true;
  }
  for (const std::string& file : seed.files) {
    llvm::StringRef name = file;
    if (!name.starts_with("graph.pb")) Write(in / file, ReadSeed(seed.path + "/" + file));
  }
  Write(in / "graph.pb", graph.SerializeAsString());
  return true;
}

// Picks a kind of seed, weighted: most of what users read are graphs.
SeedKind SomeKind(Random& random, const Seeds& seeds, bool protos) {
  static constexpr int kWeights[kSeedKinds] = {56, 14, 4, 12, 6, 3, 2, 2, 1};
  for (;;) {
    int64_t at = random.Below(100);
    int kind = 0;
    while (kind < kSeedKinds - 1 && at >= kWeights[kind]) at -= kWeights[kind++];
    bool fits = !protos || kind <= static_cast<int>(SeedKind::kCase);
    if (fits && seeds.contains(static_cast<SeedKind>(kind))) return static_cast<SeedKind>(kind);
  }
}

class Mutants {
 public:
  Mutants(const Settings& settings, Seeds seeds) : settings_(settings), seeds_(std::move(seeds)) {
    Write("mean.gtxt",
          "fetch %y\n%x = Placeholder {dtype=float, shape=[3]}\n%c = Cast(%n=3) {DstT=float}\n"
          "%s = Sum(%x, %axes=[0])\n%y = RealDiv(%c, %s)\n");
  }

  int Run() {
    for (uint64_t i = settings_.first; i < settings_.first + settings_.count; ++i) RunOne(i);
    std::fprintf(runner_.report(),
                 "%llu inputs: %llu fine, %llu refused, %llu of no graph, %llu bad\n",
                 static_cast<unsigned long long>(settings_.count),
                 static_cast<unsigned long long>(fine_), static_cast<unsigned long long>(refused_),
                 static_cast<unsigned long long>(skipped_), static_cast<unsigned long long>(bad_));
    std::fclose(runner_.report());
    return bad_ ? 1 : 0;
  }

 private:
  void RunOne(uint64_t number) {
    Random random(settings_.seed ^ (number * 0x2545f4914f6cdd1d));
    SeedKind kind = SomeKind(random, seeds_, settings_.protos);
    const Seed& seed = random.Of(seeds_[kind]);
    const Seed& other = random.Of(seeds_[kind]);
    fs::remove_all("in");
    fs::remove_all("out");
    fs::create_directory("out");
    runner_.Announce(number, seed.path + " is changed");
    Input input;
    if (!settings_.protos) {
      input = MutateFiles(random, seed, other);
    } else if (!MutateMessages(random, seed, input)) {
      ++skipped_;
      return;
    }
    uint64_t turn = random.Next();
    std::vector<std::string> arguments =
        CommandOn(kind, turn, {input.in, seed.path, "out", input.node});
    std::string what = llvm::join(arguments, " ") + " (" + seed.path + ": " + input.what + ")";
    runner_.Announce(number, what);
    CommandRunner::Outcome outcome = runner_.Run(arguments);
    ++(outcome.code == 2 ? refused_ : fine_);
    if (settings_.verbose)
      std::fprintf(runner_.report(), "%llu: %.2f s, exit %d: %s\n%s\n",
                   static_cast<unsigned long long>(number), outcome.seconds, outcome.code,
                   what.c_str(), outcome.said.c_str());
    if (!outcome.fault.empty()) Blame(number, what, outcome.fault);
  }

  void Blame(uint64_t number, const std::string& what, const std::string& why) {
    ++bad_;
    std::fprintf(runner_.report(), "%llu: %s\n  %s\n", static_cast<unsigned long long>(number),
                 why.c_str(), what.c_str());
    std::fflush(runner_.report());
  }

  const Settings& settings_;
  Seeds seeds_;
  CommandRunner runner_{kBudget};
  uint64_t fine_ = 0, refused_ = 0, skipped_ = 0, bad_ = 0;
};

int Main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    bool has_value = i + 1 < argc;
    if (argument == "--protos")
      settings.protos = true;
    else if (argument == "-v")
      settings.verbose = true;
    else if (argument == "--first" && has_value)
      settings.first = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--only" && has_value)
      settings.only = argv[++i];
    else
      settings.folders.push_back(argument.str());
  }
  if (settings.folders.size() < 3) {
    std::fprintf(stderr,
                 "usage: %s SEED COUNT FOLDER... [--protos] [--first N] [--only PART] [-v]\n",
                 argv[0]);
    return 2;
  }
  settings.seed = std::strtoull(settings.folders[0].c_str(), nullptr, 10);
  settings.count = std::strtoull(settings.folders[1].c_str(), nullptr, 10);
  Seeds seeds = FindSeeds(llvm::ArrayRef(settings.folders).drop_front(2));
  for (auto& [kind, list] : seeds)
    llvm::erase_if(list, [&](const Seed& seed) {
      return !llvm::StringRef(seed.path).contains(settings.only);
    });
  std::erase_if(seeds, [](const auto& kind) { return kind.second.empty(); });
  bool has_graphs = seeds.contains(SeedKind::kGraph) || seeds.contains(SeedKind::kCase);
  if (seeds.empty() || (settings.protos && !has_graphs)) {
    std::fprintf(stderr, "nothing there that commands read\n");
    return 2;
  }
  std::string scratch = (fs::temp_directory_path() / "mutants_XXXXXX").string();
  if (!mkdtemp(scratch.data()) || chdir(scratch.c_str()) != 0) return 2;
  int code = Mutants(settings, std::move(seeds)).Run();
  if (settings.count == 1) return code;
  fs::current_path("/");
  fs::remove_all(scratch);
  return code;
}

}  // namespace
}  // namespace grapnel

int main(int argc, char** argv) { return grapnel::Main(argc, argv); }
