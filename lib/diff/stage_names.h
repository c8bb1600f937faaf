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
  std::string note;  // not empty: others have the name too, and the first was taken
};

// Whether `line` is that of an instance after the first, whose line is `first`: see OrderDumps.
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

  // `dumps` as ReadDumps has ordered them, and must outlive this; `folder` is for messages.
  StageNames(llvm::ArrayRef<OrderedDump> dumps, llvm::StringRef folder);

  // The stage of that name:
  //   FILE             a dump's file name, with its suffix or without
  //   FUNCTION:STAGE   the function with TensorFlow's prefix and number, without __inference_, or,
  //                    where only one trace fits, without the number. The stage as `timeline`
  //                    prints it, without what follows the comma, or without opt_group_..._phase_N
  //                    where one fits. A partition's stage goes by its function's name too.
  //   STAGE            where one function fits
  // Blanks and underscores are the same. "before X" that has no dump is the stage before "after X".
  // Errors: none or several fit, with the nearest ten.
  Expected<FoundStage> Find(llvm::StringRef name) const;

  // All stages of the functions of that name, their further instances and partitions, in the
  // folder's order. A name without its number is all traces of a Python function. Errors: no
  // function has the name.
  Expected<std::vector<size_t>> StoryOf(llvm::StringRef function) const;

  // A name that Find takes for this stage alone: FUNCTION:STAGE, or its file.
  std::string NameOf(size_t index) const;

  // In the folder's order.
  llvm::ArrayRef<Function> functions() const { return functions_; }
  // Numbers of functions, without partitions of others and without further instances; those with
  // most nodes first.
  std::vector<size_t> LargestFirst() const;
  // A name of a stage of the largest function; there is one.
  std::string Example() const { return Example(functions_[LargestFirst().front()]); }
  // Whether the folder has stages of functions, rather than unrelated graphs.
  bool TellsStories() const;
  // "`grapnel timeline DIR` lists all".
  std::string WhereAllAre() const;
  // What errors say of the folder: "name ... as 'f_1:after remapper'; functions: 'f_1', ...".
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
