// A program: functions over variables that keep their values; from a traced model or from a file.
//
//   Expected<TracedModel> model = builder.Finish();            // lib/trace/model.h
//   ASSIGN_OR_RETURN(Program program, Program::Make(std::move(*model)));
//   ASSIGN_OR_RETURN(std::vector<Tensor> loss, program.Call("train_step", {x, y}));
//   RETURN_IF_ERROR(program.SaveModel("trained"));             // TensorFlow loads and trains on
//
//   ASSIGN_OR_RETURN(Program loaded, Program::Load("trained"));
#ifndef GRAPNEL_LIB_JOB_PROGRAM_H_
#define GRAPNEL_LIB_JOB_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/exec/session.h"
#include "lib/support/onednn.h"
#include "lib/support/public.h"
#include "lib/trace/model.h"

namespace grapnel {

struct GRAPNEL_PUBLIC ProgramOptions {
  int threads = 0;    // 0: one per core
  MessageSink print;  // receives what the graph prints; null: discarded
  // Runs Grappler's passes before the first call, as `grapnel opt` does by default.
  bool optimize = false;
  OneDnn onednn = OneDnn::kAuto;  // TensorFlow's oneDNN setting that the passes imitate
  std::string title;              // Load: the title that selects one of several graphs in a file
  // If not null, observes each node of each call (taps, numerics checks). Outlives the Program.
  RunHook* hook = nullptr;
  // "cpu:4", "gpu:2", or names: places each node on the one of these devices that it requests, and
  // runs the partitions in parallel, connected by Send and Recv nodes; see RunRequest::devices.
  // Empty: everything runs on one CPU.
  std::string devices;
};

// Move-only. One call at a time.
class GRAPNEL_PUBLIC Program {
 public:
  // Makes a program from a traced model. Variables start with their initial values.
  static Expected<Program> Make(TracedModel model, const ProgramOptions& options = {});
  // Loads a SavedModel: the signatures become functions, and variables have the saved values. A
  // GraphDef or case folder becomes one function "" with the case's feeds and fetches (for a graph,
  // it fetches the sinks); Run() accepts any feeds and fetches.
  static Expected<Program> Load(llvm::StringRef path, const ProgramOptions& options = {});
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // The functions with their inputs and outputs, in the order in which they were added; sorted by
  // name if the program is from a file.
  const std::vector<ModelFunction>& functions() const;
  const std::vector<VariableInfo>& variables() const;

  // Calls a function and returns the values of its outputs, in order. The first call compiles the
  // function. Errors: no such function, with similar names; a mismatch in the number of inputs,
  // their dtypes or shapes (the message names both); those of optimizing, placing and running.
  Expected<std::vector<Tensor>> Call(llvm::StringRef function, std::vector<Tensor> inputs);
  // Feeds and fetches tensors of the main graph, by name.
  Expected<std::vector<Tensor>> Run(const std::vector<std::string>& feeds,
                                    std::vector<Tensor> values,
                                    const std::vector<std::string>& fetches);

  Expected<Tensor> Get(llvm::StringRef variable) const;
  Error Set(llvm::StringRef variable, const Tensor& value);

  // Writes a SavedModel of a model that a ModelBuilder made, with the current values. See
  // lib/job/save_model.h. Errors: the program was loaded from a file; those of SaveTracedModel.
  Error SaveModel(llvm::StringRef folder) const;
  // Write and read the checkpoint PREFIX.index with its data files, in the format that
  // tf.train.load_checkpoint reads. Reading a checkpoint of another model is an error and changes
  // nothing.
  Error SaveCheckpoint(llvm::StringRef prefix, int64_t step = 0) const;
  Expected<int64_t> LoadCheckpoint(llvm::StringRef prefix);

  // Returns a copy of the graph to which a ModelBuilder can add functions: `ModelBuilder
  // builder(program.CopyModule())`.
  std::unique_ptr<Module> CopyModule() const;
  Session& session();

 private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Calls a function of a graph that a Tracer extends, with `values` as its inputs; passes the
// variables and tables that the function captures as the graph's own calls of it do. `function`:
// one of Program::functions() of the same graph.
GRAPNEL_PUBLIC Values CallImported(Tracer& t, const ModelFunction& function, const Values& values,
                                   SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PROGRAM_H_
