// The forms in which a user may write the name of a function or a stage, from exact to short. A
// line is the sequence of stages of one graph. Private to lib/diff.
#ifndef GRAPNEL_LIB_DIFF_STAGE_NAME_FORMS_H_
#define GRAPNEL_LIB_DIFF_STAGE_NAME_FORMS_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Trims the name, replaces underscores by blanks and removes commas, so that spellings that a user
// may mix up compare equal.
std::string PlainName(llvm::StringRef name);

// Returns "train_step_221" for "__inference_train_step_221". Keeps what follows the function's name
// (", instance 2", "_partition_..."), and drops the caller in "CALLER: FUNCTION".
std::string WithoutPrefix(llvm::StringRef line);

// Returns the forms of a line's name, each as by PlainName, the exact form first:
//   __inference_Dataset_map_parse_11, Dataset_map_parse_11, Dataset_map_parse, parse
// Each form keeps what follows the function's name. If Grappler optimized the function in its
// caller's run ("CALLER: FUNCTION"), the function's name alone is a form too.
std::vector<std::string> LineForms(llvm::StringRef line);

// Returns "after remapper" for "after remapper, iteration 0".
llvm::StringRef WithoutIteration(llvm::StringRef stage);

// Returns how exactly `name`, as by PlainName, matches `stage`: 0 exactly, 1 without the iteration,
// 2 without opt_group_..._phase_N. nullopt: it does not match.
std::optional<int> StageLevel(llvm::StringRef name, llvm::StringRef stage);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_STAGE_NAME_FORMS_H_
