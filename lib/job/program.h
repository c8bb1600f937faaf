// Functions that a program calls, over variables that stay: of a traced model, or of a file.
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
  int threads = 0;    // 0: one a core
  MessageSink print;  // what the graph itself prints; none: nobody sees it
  // Optimized by Grappler's passes before the first call, as `grapnel opt` does.
  bool optimize = false;
  OneDnn onednn = OneDnn::kAuto;  // which TensorFlow these passes imitate
  std::string title;              // Load: of several graphs in a file the one of this title
  // Told of each node of each call (taps, checks of numbers); outlives the Program. null: nobody.
  RunHook* hook = nullptr;
  // "cpu:4", or names of CPUs: nodes are placed on these, as `Device` asks, and the parts run side
  // by side; a Send and a Recv stand for what goes from one to another. Empty: all on one.
  std::string devices;
};

// Move-only. One call at a time.
class GRAPNEL_PUBLIC Program {
 public:
  // Variables have their initial values.
  static Expected<Program> Make(TracedModel model, const ProgramOptions& options = {});
  // A SavedModel: its signatures, and variables as saved. A GraphDef or case folder: one function
  // "", of the case's feeds and fetches (of a graph, what nobody reads); Run() has any others.
  static Expected<Program> Load(llvm::StringRef path, const ProgramOptions& options = {});
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // In the order in which they were added; of a file sorted. With what they take and give.
  const std::vector<ModelFunction>& functions() const;
  const std::vector<VariableInfo>& variables() const;

  // Values of the outputs, in their order. Compiled at the first call. Errors: there is no such
  // function, with what is near; another number of inputs, dtypes or shapes than it takes, both
  // named; the executor's.
  Expected<std::vector<Tensor>> Call(llvm::StringRef function, std::vector<Tensor> inputs);
  // The same for tensors of the main graph by name.
  Expected<std::vector<Tensor>> Run(const std::vector<std::string>& feeds,
                                    std::vector<Tensor> values,
                                    const std::vector<std::string>& fetches);

  Expected<Tensor> Get(llvm::StringRef variable) const;
  Error Set(llvm::StringRef variable, const Tensor& value);

  // A SavedModel of what a ModelBuilder made, with the values of now. See lib/job/save_model.h. An
  // error for one that was loaded.
  Error SaveModel(llvm::StringRef folder) const;
  // PREFIX.index and its data, as tf.train.load_checkpoint reads them. Reading one of another model
  // is an error, and changes nothing.
  Error SaveCheckpoint(llvm::StringRef prefix, int64_t step = 0) const;
  Expected<int64_t> LoadCheckpoint(llvm::StringRef prefix);

  // A copy of the graph to trace on: `ModelBuilder builder(program.CopyModule())`.
  std::unique_ptr<Module> CopyModule() const;
  Session& session();

 private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Calls a function of a graph that a Tracer goes on with, by `values` for what it takes; what it
// captures (variables, tables) is handed in as there. `function`: one of Program::functions() of
// the same graph.
GRAPNEL_PUBLIC Values CallImported(Tracer& t, const ModelFunction& function, const Values& values,
                                   SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PROGRAM_H_
