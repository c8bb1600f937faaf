#include "tools/trace_eager.h"

#include <optional>

#include "lib/ir/tensor_name.h"
#include "lib/job/eager_taps.h"
#include "lib/support/suggest.h"
#include "lib/watch/check_numerics.h"
#include "lib/watch/hook_chain.h"
#include "tools/run_flags.h"

namespace grapnel {

void EagerFlags::AddTo(CommandLine& line) {
  line.Flag("--eager", is_set, "run it op by op, and print the results");
  line.Option("--feed", feeds, "with --eager: a value for an input").ShownAs("NAME=FILE.npy");
  line.Option("--fetch", fetches,
              "with --eager: only these results, Identity, Identity_1, ...; printed, or saved")
      .ShownAs("NAME[=FILE.npy]");
  print.AddTo(line, "with --eager: ");
  line.Flag("--check-numerics", check_numerics,
            "with --eager: stop at the first op that outputs NaN or infinity; exit code 1");
  line.Flag("--log-device-placement", log_placement,
            "with --eager: print where each op runs, as TensorFlow does");
  tap.AddTo(line);
}

Error EagerFlags::CheckCombination() const {
  if (!is_set && (!feeds.empty() || !fetches.empty() || print.all || print.exact ||
                  check_numerics || log_placement))
    return MakeError(
        "--feed, --fetch, --all, --exact, --check-numerics and --log-device-placement require "
        "--eager");
  if (!is_set && tap.any())
    return MakeError("--tap, --logdir and the other flags for taps require --eager");
  if (!tap.report.empty())
    return MakeError("--taps-report requires a graph: use `grapnel run FILE.cpp:FUNCTION`");
  return tap.CheckCombination();
}

namespace {

// The hooks that observe the ops, and their output files.
struct EagerWatch {
  explicit EagerWatch(ThreadPool* pool) : numerics({}, pool) {}
  CheckNumerics numerics;
  std::unique_ptr<AtomicFile> lines;
  std::optional<EagerTaps> taps;
  HookChain hooks;

  Error Close(bool has_failed) {
    if (taps) RETURN_IF_ERROR(taps->End(has_failed));
    return lines ? lines->Commit() : Error::success();
  }
};

Error Watch(const TracedChoice& choice, const EagerFlags& flags, ThreadPool* pool,
            Invocation& invocation, EagerWatch* watch) {
  if (flags.tap.any()) {
    ASSIGN_OR_RETURN(TapRequest request, flags.tap.Request());
    request.pool = pool;
    request.model = choice.name;
    request.lines = &invocation.out();
    if (!flags.tap.file.empty()) {
      ASSIGN_OR_RETURN(watch->lines, AtomicFile::Create(flags.tap.file));
      request.lines = &watch->lines->os();
    }
    watch->taps.emplace(std::move(request), invocation.sink());
    watch->hooks.Add(watch->taps->hook());
  }
  // Taps come first, so that they record the op at which a check stops.
  if (!flags.check_numerics) return Error::success();
  watch->numerics.ExpectEagerOps();
  watch->hooks.Add(&watch->numerics);
  return Error::success();
}

// Reduces `results` to those that --fetch selects, in the order of the flags, and returns their
// names and files. Without --fetch, keeps all.
Expected<std::vector<Fetched>> Choose(const EagerFlags& flags, std::vector<Tensor>* results) {
  std::vector<std::string> names, asked, tensors;
  names.reserve(results->size());
  for (size_t i = 0; i < results->size(); ++i) names.push_back(ResultName(i));
  if (flags.fetches.empty()) asked = names;
  std::vector<Tensor> chosen;
  asked.reserve(flags.fetches.size());
  for (const std::string& text : flags.fetches) {
    asked.push_back(ReadTensorName(SplitAssignment(text).first).node.str());
    if (!llvm::is_contained(names, asked.back())) return NotFound("result", asked.back(), names);
  }
  for (const std::string& name : asked) {
    chosen.push_back((*results)[llvm::find(names, name) - names.begin()]);
    tensors.push_back(name + ":0");
  }
  *results = std::move(chosen);
  return FetchedBy(tensors, asked, flags.fetches);
}

}  // namespace

Expected<int> RunProgram(const TracedChoice& choice, const EagerFlags& flags,
                         Invocation& invocation) {
  RETURN_IF_ERROR(CheckFoldersOf(flags.fetches));
  if (invocation.flags.json && flags.tap.writes_to_stdout())
    return MakeError("--json and --tap both write to standard output: pass --tap-file FILE too");
  ASSIGN_OR_RETURN(std::vector<Tensor> feeds, FeedsOf(choice, flags.feeds));
  const EagerProgram& program = choice.program;
  ThreadPool pool(invocation.flags.threads);
  EagerWatch watch(&pool);
  RETURN_IF_ERROR(Watch(choice, flags, &pool, invocation, &watch));
  EagerOptions options;
  options.pool = &pool;
  options.records = true;
  options.print = [&](Severity, llvm::StringRef text) { invocation.err() << text << "\n"; };
  if (flags.log_placement) options.log_placement = options.print;
  if (watch.taps || flags.check_numerics) options.hook = &watch.hooks;
  Tracer t(options);
  watch.numerics.SetStackSource(
      [&t](const Node& node) { return StackText(StackOfNode(t, node), LineTable::kMostFrames); });
  if (watch.taps) RETURN_IF_ERROR(watch.taps->Begin(t));
  auto results = RunEagerly(t, program.name, program.inputs, program.call, std::move(feeds));
  if (Error error = watch.Close(/*has_failed=*/!results)) {
    if (!results) llvm::consumeError(results.takeError());
    return error;
  }
  const std::string& finding = watch.numerics.finding();
  if (!results && !finding.empty()) {
    llvm::consumeError(results.takeError());
    invocation.out().flush();
    invocation.err() << "grapnel: " << program.name << ": " << finding << "\n";
    return kExitNo;
  }
  if (!results) return results.takeError();
  ASSIGN_OR_RETURN(std::vector<Fetched> fetched, Choose(flags, &*results));
  if (invocation.flags.json)
    WriteFetchesJson(
        fetched, {*results}, flags.print.all, [](auto&) {}, invocation.out());
  else if (!invocation.flags.quiet)
    PrintFetches(fetched, *results, flags.print, invocation.out());
  RETURN_IF_ERROR(SaveFetches(fetched, *results, invocation));
  invocation.Wrote(flags.tap.file);
  invocation.Wrote(flags.tap.logdir);
  return kExitOk;
}

}  // namespace grapnel
