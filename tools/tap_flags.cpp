#include "tools/tap_flags.h"

#include "lib/support/memory_budget.h"
#include "lib/watch/tap_report.h"

namespace grapnel {
namespace {

Expected<std::vector<Glob>> Globs(const char* flag, llvm::ArrayRef<std::string> texts) {
  auto globs = Glob::ParseAll(texts);
  if (!globs) return Annotate(flag, globs.takeError());
  return std::move(*globs);
}

Expected<TapFilter> FilterOf(const TapFlags& flags) {
  TapFilter filter;
  ASSIGN_OR_RETURN(filter.names, Globs("--tap", flags.names));
  ASSIGN_OR_RETURN(filter.ops, Globs("--tap-op", flags.ops));
  ASSIGN_OR_RETURN(filter.functions, Globs("--tap-function", flags.functions));
  ASSIGN_OR_RETURN(filter.dtypes, Globs("--tap-dtype", flags.dtypes));
  return filter;
}

Expected<uint64_t> BytesOf(const std::string& text) {
  if (text.empty()) return 0;
  if (llvm::StringRef(text).contains('%'))
    return MakeError("--tap-bytes: '{0}': a size was expected, as 8G or 500M", text);
  auto bytes = ParseMemory(text);
  if (!bytes) return Annotate("--tap-bytes", bytes.takeError());
  return static_cast<uint64_t>(*bytes);
}

}  // namespace

void TapFlags::AddTo(CommandLine& line) {
  line.Option("--tap", names,
              "print minimum, mean, maximum and counts of the outputs of nodes whose names match, "
              "or of the nodes of a layer")
      .ShownAs("GLOB");
  line.Option("--tap-op", ops, "tap only nodes with these ops").ShownAs("GLOB");
  line.Option("--tap-function", functions,
              "tap only nodes in the bodies of these functions; '' is the main graph")
      .ShownAs("GLOB");
  line.Option("--tap-dtype", dtypes, "tap only tensors of these dtypes, as 'float' or 'int*'")
      .ShownAs("GLOB");
  line.Option("--tap-mode", mode, "what a tap writes about a tensor")
      .OneOf(TapModeNames())
      .ShowDefault();
  line.Option("--tap-file", file,
              "write taps as lines of JSON to this file (- for standard output); default: print a "
              "table");
  line.Option("--tap-bytes", most_bytes,
              "limit on the size of tap output, as 8G; the rest is counted and reported; default: "
              "none; with --logdir only if --circular-buffer-size is -1")
      .ShownAs("SIZE");
  line.Option("--taps-report", report, "write how often each tensor was tapped, or why it was not")
      .ShownAs("FILE");
  line.Option("--logdir", logdir,
              "write taps (of all nodes, unless --tap or the like selects some) as a debug folder "
              "of TensorFlow, for TensorBoard's Debugger V2, `info`, `blame` and `serve`")
      .ShownAs("DIR");
  line.Option("--circular-buffer-size", circular_buffer_size,
              "with --logdir: how many of the last traces, and of the last executions, to keep; "
              "-1: all")
      .ShownAs("N")
      .ShowDefault();
}

Error TapFlags::CheckCombination() const {
  const TapFlags defaults;
  const std::pair<const char*, bool> given[] = {{"--tap-mode", mode != defaults.mode},
                                                {"--tap-file", !file.empty()},
                                                {"--tap-bytes", !most_bytes.empty()}};
  for (const auto& [name, is_given] : given) {
    if (is_given && !any())
      return MakeError(
          "{0} requires a flag that selects what to tap, such as --tap GLOB or --logdir DIR", name);
  }
  if (circular_buffer_size != defaults.circular_buffer_size && logdir.empty())
    return MakeError("--circular-buffer-size requires --logdir DIR");
  if (!most_bytes.empty() && !logdir.empty() && circular_buffer_size > 0)
    return MakeError(
        "--tap-bytes cannot limit a debug folder of the last {0} traces: pass "
        "--circular-buffer-size -1 to limit its bytes instead",
        circular_buffer_size);
  return Error::success();
}

Expected<TapRequest> TapFlags::Request() const {
  if (!logdir.empty() && !file.empty())
    return MakeError("--logdir and --tap-file cannot be combined: pass only one");
  TapRequest request;
  ASSIGN_OR_RETURN(request.filter, FilterOf(*this));
  ASSIGN_OR_RETURN(request.most_bytes, BytesOf(most_bytes));
  request.mode = *ParseTapMode(mode);
  request.logdir = logdir;
  request.circular_buffer_size = circular_buffer_size;
  request.counts_each = !report.empty();
  request.as_table = file.empty();
  return request;
}

Expected<TappedRun> TappedRun::Begin(const TapFlags& flags, const std::string& model,
                                     const OpenedGraph& opened, const std::string& signature,
                                     bool says_run, ThreadPool& pool, llvm::raw_ostream& out,
                                     const MessageSink& sink) {
  TappedRun run;
  if (!flags.any()) return run;
  ASSIGN_OR_RETURN(TapRequest request, flags.Request());
  request.lines = &out;
  if (!flags.file.empty()) {
    ASSIGN_OR_RETURN(run.lines_, AtomicFile::Create(flags.file));
    request.lines = &run.lines_->os();
  }
  if (!flags.report.empty()) {
    ASSIGN_OR_RETURN(run.report_, AtomicFile::Create(flags.report));
  }
  request.says_run = says_run;
  request.model = model;
  request.signature = signature;
  request.pool = &pool;
  auto taps = RunTaps::Make(opened, std::move(request), sink);
  if (!taps) return Annotate(model, taps.takeError());
  run.taps_ = std::move(*taps);
  return run;
}

Error TappedRun::Close(const OpenedGraph& opened, llvm::ArrayRef<std::string> fed) {
  if (!taps_) return Error::success();
  if (lines_) RETURN_IF_ERROR(lines_->Commit());
  if (!report_) return Error::success();
  TapReport(opened.module(), fed, taps_->tap()).Write(report_->os());
  return report_->Commit();
}

}  // namespace grapnel
