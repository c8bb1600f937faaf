#include "lib/job/run_taps.h"

#include "lib/job/name_resolver.h"
#include "lib/job/source.h"
#include "lib/support/text.h"
#include "lib/watch/tap_lines.h"
#include "lib/watch/tap_table.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {

std::unique_ptr<TapText> TextOfTaps(const TapRequest& request) {
  llvm::raw_ostream& os = request.lines ? *request.lines : llvm::nulls();
  if (request.as_table) return std::make_unique<TapTable>(request.mode, os, request.most_bytes);
  return std::make_unique<TapLines>(request.mode, os, request.most_bytes);
}

void Prepare(Tap& tap, const TapRequest& request) {
  tap.CountOn(request.pool);
  if (request.counts_each) tap.CountEach();
  bool has_lines = request.logdir.empty() && request.lines;
  if (has_lines && request.as_table && request.mode == TapMode::kFullHealth) tap.Summarize();
}

DebugWriterOptions LogdirOptions(const TapRequest& request, const MessageSink& sink) {
  if (request.mode == TapMode::kFullTensor)
    sink(Severity::kWarning,
         "--logdir: TensorBoard 2.21 hangs on a folder of FULL_TENSOR; grapnel reads it");
  if (request.mode == TapMode::kThreeSlots)
    sink(Severity::kWarning,
         "--logdir: TensorBoard cannot show REDUCE_INF_NAN_THREE_SLOTS; grapnel reads it");
  DebugWriterOptions options;
  options.folder = request.logdir;
  options.mode = DebugModeOf(request.mode);
  options.circular_buffer_size = request.circular_buffer_size;
  options.most_bytes = request.most_bytes;
  llvm::SmallString<128> source(request.model);
  llvm::sys::fs::make_absolute(source);
  llvm::sys::path::remove_dots(source, /*remove_dot_dot=*/true);
  // Line numbers in the debug folder refer to a text listing that the writer makes, not to the
  // model's file.
  options.source = (source + ".listing").str();
  options.read_source = [model = request.model](const SourceFrame& frame) {
    constexpr int kWholeFile = 1 << 20;  // lines
    auto text = ReadSourceText(model, frame, kWholeFile, SourceReach::kAnywhere);
    return text ? std::move(text->lines) : std::vector<std::string>();
  };
  return options;
}

void ReportOmitted(int64_t left_out, uint64_t most_bytes, const MessageSink& sink) {
  if (left_out > 0)
    sink(Severity::kWarning, llvm::formatv("--tap-bytes: the limit of {0} is reached; omitted: {1}",
                                           HumanBytes(most_bytes), Plural(left_out, "tensor"))
                                 .str());
}

static Expected<std::unique_ptr<DebugWriter>> OpenLogdir(const OpenedGraph& opened,
                                                         const TapRequest& request,
                                                         const MessageSink& sink) {
  DebugWriterOptions options = LogdirOptions(request, sink);
  options.graph_name = opened.name();
  options.stack_of = [lines = LinesOf(opened)](const Node& node) { return lines.StackOf(node); };
  return DebugWriter::Create(opened.module(), std::move(options));
}

Error ResolveTaps(const OpenedGraph& opened, llvm::StringRef signature, TapFilter* filter,
                  const char* flag) {
  NameResolver resolver(opened, signature);
  std::vector<Glob> names;
  for (Glob& glob : filter->names) {
    if (Error unknown = CheckNodes(opened.module(), glob, flag)) {
      auto nodes = resolver.Nodes(glob.text(), /*may_come=*/true);
      if (!nodes) {
        llvm::consumeError(std::move(unknown));
        return Annotate(flag, nodes.takeError());
      }
      if (nodes->nodes().empty()) return unknown;
      llvm::consumeError(std::move(unknown));
      filter->chosen.push_back(std::move(*nodes));
    } else {
      names.push_back(std::move(glob));
    }
  }
  filter->names = std::move(names);
  return Error::success();
}

Expected<std::unique_ptr<RunTaps>> RunTaps::Make(const OpenedGraph& opened, TapRequest request,
                                                 MessageSink sink) {
  RETURN_IF_ERROR(ResolveTaps(opened, request.signature, &request.filter));
  RETURN_IF_ERROR(CheckTapped(opened.module(), request.filter));
  std::unique_ptr<RunTaps> made(new RunTaps);
  RunTaps& taps = *made;
  taps.says_run_ = request.says_run;
  taps.most_bytes_ = request.most_bytes;
  if (!request.logdir.empty()) {
    ASSIGN_OR_RETURN(taps.logdir_, OpenLogdir(opened, request, sink));
    taps.tap_ =
        std::make_unique<DebugTap>(std::move(request.filter), request.mode, taps.logdir_.get());
  } else {
    taps.lines_ = TextOfTaps(request);
    taps.os_ = request.lines;
    if (request.lines && request.as_table && request.mode == TapMode::kFullHealth)
      taps.by_layer_ = std::make_unique<LayerHealth>(LayerNames(opened.file()));
    taps.tap_ = std::make_unique<WrittenTap>(
        std::move(request.filter), request.mode,
        [lines = taps.lines_.get(), by_layer = taps.by_layer_.get()](const TapEvent& event) {
          lines->Write(event);
          if (by_layer) by_layer->Add(event);
        });
  }
  Prepare(*taps.tap_, request);
  taps.sink_ = std::move(sink);
  return made;
}

Error RunTaps::BeforeRun(StepContext& step) {
  if (says_run_) tap_->BeginRun(static_cast<int>(step.run));
  return Error::success();
}

// Waits until the tensors of this run are written, and adds the run to the debug folder, if there
// is one.
Error RunTaps::AfterRun(StepContext& step) {
  tap_->Drain();
  if (logdir_) logdir_->AddExecution(step.feed_values, step.fetched);
  return Error::success();
}

Error RunTaps::End(StepContext& step) {
  tap_->Drain();
  if (by_layer_) by_layer_->Write(*os_);
  int64_t left_out = logdir_ ? logdir_->left_out() : lines_->left_out();
  ReportOmitted(left_out, most_bytes_, sink_);
  if (!step.has_failed && tap_->tensors_tapped() == 0)
    sink_(Severity::kWarning, "nothing was tapped: --taps-report FILE shows why, for each tensor");
  auto waited = std::chrono::duration<double>(tap_->writer().waited()).count();
  if (waited > 0)
    sink_(
        Severity::kInfo,
        llvm::formatv("taps: threads waited {0:f2} s in total for tap output to be written", waited)
            .str());
  return logdir_ ? logdir_->Close() : Error::success();
}

}  // namespace grapnel
