// Names of stages, by which users choose a graph of a dump folder.
//
//   train_step_221:after remapper
//
// File names of dumps contain addresses and counters, and a folder may have hundreds of them.
// FUNCTION:STAGE names the same graph with the words that `grapnel timeline` prints.
#ifndef GRAPNEL_LIB_DIFF_STAGE_NAMES_H_
#define GRAPNEL_LIB_DIFF_STAGE_NAMES_H_

#include <string>
#include <vector>

#include "lib/diff/timeline.h"

namespace grapnel {

struct FoundStage {
  size_t index;      // in the folder's order
  std::string note;  // not empty: a note that several stages match; this is the first
};

// True if `line` is a later instance of the function whose first instance has the line `first`: see
// OrderDumps.
bool IsInstanceOf(llvm::StringRef line, llvm::StringRef first);

// The names of the stages in one folder.
class StageNames {
 public:
  // A trace of a function, or one of its partitions.
  struct Function {
    std::string line, from_line;  // as in DumpStage
    std::string name;             // short and unique: "train_step_221"
    std::vector<size_t> stages;   // indices of its stages, in order
    size_t nodes = 0;             // in the main graph of its largest stage
  };

  // `dumps` must be in the order of ReadDumps and outlive the StageNames; messages use `folder`.
  StageNames(llvm::ArrayRef<OrderedDump> dumps, llvm::StringRef folder);

  // Finds the stage that a user's text names:
  //   FILE             the file name of a dump, with or without its extension
  //   FUNCTION:STAGE   the function's full name, or a shorter form of it (see LineForms) if only
  //                    one function matches. The stage as `timeline` prints it, or
  //                    without the part after the comma, or without opt_group_..._phase_N if only
  //                    one stage matches. The stage of a partition may also be named with its
  //                    function's name.
  //   STAGE            if only one function has this stage
  // Blanks and underscores are equal. "before X", if it has no dump, is the stage before "after X".
  // Errors: no match, with names that exist, or several matches, with their names.
  Expected<FoundStage> Find(llvm::StringRef name) const;

  // Returns all stages of the functions with that name and of the graphs made from them, such as
  // partitions, in the folder's order. Other instances have names of their own ("f_12, instance
  // 2"). A name without its number means all traces of a Python function. Error: no function has
  // the name.
  Expected<std::vector<size_t>> StoryOf(llvm::StringRef function) const;

  // Returns a name by which Find finds only this stage: FUNCTION:STAGE, or the file name.
  std::string NameOf(size_t index) const;

  // The functions in the folder's order.
  llvm::ArrayRef<Function> functions() const { return functions_; }
  // Returns the indices of functions, except those derived from others (as partitions are) and
  // later instances; those with the most nodes first, but ops that ran eagerly last.
  std::vector<size_t> LargestFirst() const;
  // Returns the name of a stage of the largest function. There must be a function.
  std::string Example() const { return Example(functions_[LargestFirst().front()]); }
  // True if the folder has several stages of the same function, rather than unrelated graphs.
  bool TellsStories() const;
  // Returns "`grapnel timeline DIR` lists all", for messages.
  std::string WhereAllAre() const;
  // Returns advice for error messages about this folder: "name ... as 'f_1:after remapper';
  // functions are 'f_1', ...".
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
  std::vector<size_t> function_of_;  // index of each stage's function
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_STAGE_NAMES_H_
