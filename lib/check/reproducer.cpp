#include "lib/check/reproducer.h"

#include "lib/io/write.h"

namespace grapnel {
namespace {

class FailureInstrumentation : public Instrumentation {
 public:
  bool ReadsRewrites() const override { return false; }
  explicit FailureInstrumentation(std::optional<Stage>* failed) : failed_(*failed) {}
  void Failed(const Stage& stage, const Module&) override { failed_ = stage; }
  bool TakesBodiesApart() const override { return true; }

 private:
  std::optional<Stage>& failed_;
};

// Writes the graph as it is before the given stage, and ends the run.
class StopBefore : public Instrumentation {
 public:
  bool ReadsRewrites() const override { return false; }
  StopBefore(const Stage& stage, llvm::StringRef path, bool* written)
      : stage_(stage), path_(path), written_(*written) {}
  Error BeforePass(const Stage& stage, const Module& module) override {
    if (stage.pass != stage_.pass || stage.iteration != stage_.iteration ||
        stage.function != stage_.function)
      return Error::success();
    RETURN_IF_ERROR(WriteGraph(module, path_));
    written_ = true;
    return MakeError("written");
  }

 private:
  const Stage& stage_;
  std::string path_;
  bool& written_;
};

}  // namespace

std::unique_ptr<Instrumentation> MakeFailureInstrumentation(std::optional<Stage>* failed) {
  return std::make_unique<FailureInstrumentation>(failed);
}

Error SaveReproducer(Module& module, const OptimizeOptions& options, const Stage& failed,
                     llvm::StringRef path) {
  bool written = false;
  PassManager manager;
  manager.Add(std::make_unique<StopBefore>(failed, path, &written));
  OptimizeOptions silent = options;
  silent.sink = nullptr;
  silent.on_refusal = nullptr;
  auto result = manager.Run(module, silent);
  if (result)
    return MakeError("the passes, run again to save the input of pass '{0}', did not reach it",
                     failed.pass);
  if (!written) return result.takeError();
  llvm::consumeError(result.takeError());
  return Error::success();
}

}  // namespace grapnel
