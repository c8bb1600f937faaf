// Names of stages, by which users choose a graph of a dump folder.
//
//   train_step_221:after remapper
//
// File names of dumps hold addresses and counters, and a folder has hundreds of them.
// FUNCTION:STAGE says the same with the words that `grapnel timeline` prints.
#ifndef GRAPNEL_LIB_DIFF_STAGE_NAMES_H_
#define GRAPNEL_LIB_DIFF_STAGE_NAMES_H_

#include <string>
#include <vector>

#include "lib/diff/timeline.h"

namespace grapnel {

struct FoundStage {
  size_t index;      // in the folder's order
  std::string note;  // not empty: several stages have the name, and this is the first
};

// True if `line` is an instance after the first, whose line is `first`: see OrderDumps.
bool IsInstanceOf(llvm::StringRef line, llvm::StringRef first);

// The names of one folder's stages.
class StageNames {
 public:
  // A trace of a function, or one of its partitions.
  struct Function {
    std::string line, from_line;  // as DumpStage has them
    std::string name;             // short and unique: "train_step_221"
    std::vector<size_t> stages;   // by number, in order
    size_t nodes = 0;             // of the main graph, in the stage with most
  };

  // `dumps` must be in the order of ReadDumps and outlive this; `folder` is used in messages.
  StageNames(llvm::ArrayRef<OrderedDump> dumps, llvm::StringRef folder);

  // Finds the stage with a name:
  //   FILE             a dump's file name, with its suffix or without
  //   FUNCTION:STAGE   the function with TensorFlow's prefix and number, without __inference_, or,
  //                    if only one trace matches, without the number. The stage as `timeline`
  //                    prints it, without the part after the comma, or without
  //                    opt_group_..._phase_N if one matches. A partition's stage may use its
  //                    function's name too.
  //   STAGE            if one function has it
  // Blanks and underscores are equal. "before X" without a dump is the stage before "after X".
  // Errors: no match or several, with the nearest ten.
  Expected<FoundStage> Find(llvm::StringRef name) const;

  // Returns all stages of the functions with that name, of their further instances and partitions,
  // in the folder's order. A name without its number means all traces of a Python function. Errors:
  // no function has the name.
  Expected<std::vector<size_t>> StoryOf(llvm::StringRef function) const;

  // A name by which Find finds only this stage: FUNCTION:STAGE, or its file.
  std::string NameOf(size_t index) const;

  // In the folder's order.
  llvm::ArrayRef<Function> functions() const { return functions_; }
  // Indices of functions, without partitions of others and further instances; those with the most
  // nodes first.
  std::vector<size_t> LargestFirst() const;
  // A name of a stage of the largest function. There must be a function.
  std::string Example() const { return Example(functions_[LargestFirst().front()]); }
  // True if the folder has stages of functions, rather than unrelated graphs.
  bool TellsStories() const;
  // "`grapnel timeline DIR` lists all".
  std::string WhereAllAre() const;
  // Describes the folder for errors: "name ... as 'f_1:after remapper'; functions: 'f_1', ...".
  std::string Advice(llvm::StringRef by) const;

 private:
  struct Hit;

  const DumpStage& stage(size_t i) const { return dumps_[i].dump; }
  const Function& FunctionOf(size_t index) const { return functions_[function_of_[index]]; }
  std::vector<std::pair<size_t, int>> LinesOf(llvm::StringRef function) const;
  std::vector<Hit> HitsOf(llvm::StringRef name, bool before_is_meant) const;
  std::vector<size_t> BestOf(llvm::StringRef name, bool before_is_meant) const;
  std::vector<size_t> OfFile(llvm::StringRef name) const;
  Expected<FoundStage> OneOf(llvm::StringRef name, llvm::ArrayRef<size_t> found,
                             bool before_is_meant) const;
  Error NoStage(llvm::StringRef name) const;
  std::string NamesOfStages(llvm::ArrayRef<std::pair<size_t, int>> functions,
                            llvm::StringRef stage) const;
  std::vector<size_t> Largest(std::vector<size_t> functions) const;
  std::vector<std::string> NamesOf(llvm::ArrayRef<size_t> functions) const;
  std::string Example(const Function& function) const;

  llvm::ArrayRef<OrderedDump> dumps_;
  std::string folder_;
  std::vector<Function> functions_;
  std::vector<size_t> function_of_;  // of each stage
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_STAGE_NAMES_H_
