// Runs cases with randomly changed inputs and attributes, many in one process: none may crash, hang
// or exceed the memory limit.
//
//   grapnel_op_inputs SEED COUNT FOLDER... [--first N] [--only NAME] [--save DIR] [-v]
//
// FOLDER contains cases: folders or zip files. Input N of a seed is the same in every run. Before each input the
// program writes to the file $FUZZ_AT (if set) what it is about to do, so that the parent process
// knows the input that ended it. --save writes each input as a separate case with its results, or
// with the error in error.txt, for comparison with TensorFlow.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "lib/exec/executor.h"
#include "lib/exec/session.h"
#include "lib/io/open.h"
#include "lib/io/value.h"
#include "lib/io/write.h"
#include "lib/ir/verify.h"
#include "lib/support/cancel.h"
#include "lib/support/exceptions.h"
#include "lib/support/memory_budget.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/fuzz/op_mutation.h"

namespace grapnel {
namespace {

constexpr int64_t kBudget = 1ll << 30;
constexpr auto kPatience = std::chrono::seconds(5);
constexpr unsigned kHangs = 60;  // seconds without a response to cancellation

// Cancels a run that takes too long.
class Watch {
 public:
  explicit Watch(CancelFlag& flag) : thread_([this, &flag] { Wait(flag); }) { alarm(kHangs); }
  ~Watch() {
    {
      std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_one();
    thread_.join();
    alarm(0);
  }

 private:
  void Wait(CancelFlag& flag) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [this] { return is_over_; })) flag.Cancel();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

struct Input {
  Case base;
  std::unique_ptr<Module> module;
  std::vector<MutatedFeed> feeds;
  std::vector<std::string> fetches;
  std::string what;  // describes the mutation
};

Expected<Input> MakeInput(const Case& base, uint64_t seed) {
  Input input;
  input.base = base;
  ASSIGN_OR_RETURN(input.module, OpenGraph(base.graph));
  for (const Case::Feed& feed : base.feeds) {
    ASSIGN_OR_RETURN(Literal value, LoadNpyLiteral(feed.file));
    input.feeds.push_back({feed.tensor, std::move(value)});
  }
  for (const Case::Fetch& fetch : base.fetches) input.fetches.push_back(fetch.tensor);
  Random random(seed);
  input.what = Mutate(random, *input.module, input.feeds);
  return input;
}

Expected<std::vector<Tensor>> Run(const Input& input, ThreadPool& pool) {
  for (const Problem& problem : AllProblems(*input.module)) {
    if (problem.severity == Severity::kError) return MakeError("refused: {0}", problem.ToString());
  }
  CancelFlag cancel;
  Watch watch(cancel);
  Session session;
  ExecutorOptions options;
  options.pool = &pool;
  options.session = &session;
  options.cancel = &cancel;
  options.fetches = input.fetches;
  std::vector<Tensor> feeds;
  for (const MutatedFeed& feed : input.feeds) {
    options.feeds.push_back(feed.tensor);
    ASSIGN_OR_RETURN(Tensor value, Tensor::FromLiteral(feed.value));
    feeds.push_back(std::move(value));
  }
  ASSIGN_OR_RETURN(auto executor, Executor::Compile(input.module->main, options));
  ASSIGN_OR_RETURN(std::vector<Tensor> results, executor->Run(feeds));
  // Reads the fetched values, so that a sanitizer notices memory beyond a tensor's own.
  RETURN_IF_ERROR(WithoutExceptions([&]() -> Error {
    for (const Tensor& result : results) {
      if (result) (void)result.ToString(1 << 20);
    }
    return Error::success();
  }));
  return results;
}

Error Save(const Input& input, Expected<std::vector<Tensor>>& results, const std::string& folder) {
  namespace fs = std::filesystem;
  fs::create_directories(folder);
  Case saved;
  RETURN_IF_ERROR(WriteGraph(*input.module, folder + "/graph.pb"));
  for (size_t i = 0; i < input.feeds.size(); ++i) {
    std::string file = folder + "/feed_" + std::to_string(i) + ".npy";
    RETURN_IF_ERROR(SaveNpyLiteral(file, input.feeds[i].value));
    saved.feeds.push_back({input.feeds[i].tensor, file});
  }
  for (size_t i = 0; i < input.fetches.size(); ++i) {
    std::string file = folder + "/out_" + std::to_string(i) + ".npy";
    bool has_value = results && (*results)[i] && !(*results)[i].HoldsObjects();
    if (has_value) RETURN_IF_ERROR(SaveNpyLiteral(file, (*results)[i].ToLiteral()));
    saved.fetches.push_back({input.fetches[i], file, 1e-5});
  }
  std::ofstream(folder + "/what.txt") << input.base.folder << "\n" << input.what << "\n";
  return SaveCase(folder, saved);
}

std::vector<Case> CasesIn(llvm::ArrayRef<std::string> folders, llvm::StringRef only) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      std::string file = entry.path().filename().string();
      llvm::StringRef name = file;
      name.consume_back(".zip");
      if (IsCaseFolder(entry.path().string()) && (only.empty() || only == name))
        paths.push_back(fs::absolute(entry.path()).string());
    }
  }
  llvm::sort(paths);
  std::vector<Case> cases;
  cases.reserve(paths.size());
  for (const std::string& path : paths) cases.push_back(llvm::cantFail(LoadCase(path)));
  return cases;
}

void Announce(uint64_t number, const Input& input) {
  const char* path = std::getenv("FUZZ_AT");
  if (!path) return;
  std::ofstream(path) << number << " " << input.base.folder << ": " << input.what << "\n";
}

int Main(int argc, char** argv) {
  std::vector<std::string> folders;
  std::string only, save;
  uint64_t first = 0;
  bool is_verbose = false;
  for (int i = 3; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    bool has_value = i + 1 < argc;
    if (argument == "--first" && has_value)
      first = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "--only" && has_value)
      only = argv[++i];
    else if (argument == "--save" && has_value)
      save = std::filesystem::absolute(argv[++i]).string();
    else if (argument == "-v")
      is_verbose = true;
    else
      folders.push_back(argument.str());
  }
  if (folders.empty()) {
    std::fprintf(stderr, "usage: %s SEED COUNT FOLDER... [--first N] [--only NAME] [--save DIR]\n",
                 argv[0]);
    return 2;
  }
  uint64_t seed = std::strtoull(argv[1], nullptr, 10), count = std::strtoull(argv[2], nullptr, 10);
  std::vector<Case> cases = CasesIn(folders, only);
  if (cases.empty()) {
    std::fprintf(stderr, "no case folders there\n");
    return 2;
  }
  // The working directory of ops that write files.
  std::string scratch = (std::filesystem::temp_directory_path() / "op_inputs_XXXXXX").string();
  if (!mkdtemp(scratch.data()) || chdir(scratch.c_str()) != 0) return 2;
  MemoryBudget::Get().SetLimit(kBudget);
  ThreadPool pool(2);
  uint64_t ran = 0, refused = 0, failed = 0, cancelled = 0;
  for (uint64_t i = first; i < first + count; ++i) {
    uint64_t number = Random(seed ^ (i * 0x2545f4914f6cdd1d)).Next();
    auto input = MakeInput(cases[number % cases.size()], number);
    if (!input) {
      std::fprintf(stderr, "%llu: %s\n", static_cast<unsigned long long>(i),
                   TextOf(input.takeError()).c_str());
      return 2;
    }
    Announce(i, *input);
    auto results = Run(*input, pool);
    if (!save.empty()) {
      std::string folder = save + "/" + std::to_string(i);
      if (Error error = Save(*input, results, folder)) llvm::consumeError(std::move(error));
      if (!results) {
        std::string why = TextOf(results.takeError());
        std::ofstream(folder + "/error.txt") << why << "\n";
        results = MakeError("{0}", why);
      }
    }
    std::string why = results ? "" : TextOf(results.takeError());
    if (is_verbose)
      std::printf("%llu %s: %s -> %s\n", static_cast<unsigned long long>(i),
                  input->base.folder.c_str(), input->what.c_str(),
                  why.empty() ? "ran" : why.c_str());
    bool is_cancelled = llvm::StringRef(why).ends_with("cancelled");
    ++(why.empty()                                     ? ran
       : is_cancelled                                  ? cancelled
       : llvm::StringRef(why).starts_with("refused: ") ? refused
                                                       : failed);
  }
  std::filesystem::current_path("/");
  std::filesystem::remove_all(scratch);
  std::printf("%llu inputs of %zu cases: %llu ran, %llu failed, %llu refused, %llu cancelled\n",
              static_cast<unsigned long long>(count), cases.size(),
              static_cast<unsigned long long>(ran), static_cast<unsigned long long>(failed),
              static_cast<unsigned long long>(refused), static_cast<unsigned long long>(cancelled));
  return 0;
}

}  // namespace
}  // namespace grapnel

int main(int argc, char** argv) { return grapnel::Main(argc, argv); }
