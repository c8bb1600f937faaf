#include "tools/pipeline.h"

#include "lib/job/signature_graph.h"
#include "tools/input.h"
#include "tools/progress.h"
#include "tools/without_flag.h"

namespace grapnel {
namespace {

class PassProgress : public Instrumentation {
 public:
  explicit PassProgress(Invocation& invocation) : invocation_(invocation) {}
  bool ReadsRewrites() const override { return false; }
  Error BeforePass(const Stage& stage, const Module&) override {
    invocation_.ReportProgress(stage.function.empty() ? stage.pass
                                                      : stage.pass + " in " + stage.function);
    return StopIfCancelled(&invocation_.cancel());
  }
  bool TakesBodiesApart() const override { return true; }

 private:
  Invocation& invocation_;
};

}  // namespace

std::unique_ptr<Instrumentation> MakePassProgress(Invocation& invocation) {
  if (!Progress::IsOn() && !invocation.caller()) return nullptr;
  return std::make_unique<PassProgress>(invocation);
}

void PipelineFlags::AddTo(CommandLine& line) {
  line.Option("--feed", feeds,
              "tensors fed in addition to placeholders; with a value where values are checked")
      .Separator(',')
      .ShownAs("NAME[=FILE.npy],...");
  line.Option("--fetch", request.options.fetches,
              "tensors whose values must not change; default: those of the case or signature, else "
              "the graph's sinks")
      .Separator(',')
      .ShownAs("NAME,...");
  line.Option("--signature", request.signature,
              "take feeds and fetches from this signature of a SavedModel");
  AddFunctionFlag(line, function);
  line.Option("--passes", request.options.passes,
              "run only these passes, in this order, each once (`grapnel passes` lists them)")
      .Separator(',')
      .ShownAs("NAME,...");
  AddWithoutFlag(line, request.options.without);
  line.Option("--rewriter-config", request.rewriter_config,
              "TensorFlow's RewriterConfig as a text proto: a file, or the text itself");
  line.Option("--limit", request.options.limit, "stop after this many rewrites").NotNegative();
  line.Flag("--keep-nan", request.options.keep_nan,
            "no fusion that turns NaN into 0, as oneDNN's Relu and Relu6 do (in TensorFlow too)");
  onednn.AddTo(line);
}

void PipelineFlags::AddDeviceTo(CommandLine& line) {
  line.Option("--device", request.device,
              "write this device into nodes without one; default: assume the first CPU for them, "
              "but write nothing (with --rewriter-config, or '': assume none)")
      .ShownAs("DEVICE");
}

void PipelineFlags::AddValuesTo(CommandLine& line) {
  line.Option("--rtol", request.rtol, "allowed relative difference of a value")
      .NotNegative()
      .ShowDefault();
  line.Option("--atol", request.atol,
              "allowed difference relative to the largest value of its tensor")
      .NotNegative()
      .ShowDefault();
}

Error PipelineFlags::Use(OpenedGraph* opened) const {
  return UseGivenFunction(function, request.signature, opened);
}

Error PipelineFlags::TakeNetwork(OpenedGraph* opened) const {
  RETURN_IF_ERROR(Use(opened));
  if (!request.signature.empty()) return TakeSignature(request.signature, {}, opened).takeError();
  return grapnel::TakeNetwork({}, opened).takeError();
}

OptimizeRequest PipelineFlags::Request(const Invocation& invocation) const {
  OptimizeRequest made = request;
  made.config_name = "--rewriter-config";
  made.onednn = onednn.choice();
  made.options.registry = invocation.passes();
  for (const std::string& feed : feeds) {
    auto [tensor, file] = llvm::StringRef(feed).split('=');
    made.feeds.push_back({tensor.str(), file.str(), Tensor()});
  }
  return made;
}

}  // namespace grapnel
