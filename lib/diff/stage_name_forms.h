// The forms that a name of a function or a stage may have, from exact to short. Private to
// lib/diff.
#ifndef GRAPNEL_LIB_DIFF_STAGE_NAME_FORMS_H_
#define GRAPNEL_LIB_DIFF_STAGE_NAME_FORMS_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Replaces underscores by blanks and removes commas, so that spellings that may differ compare
// equal.
std::string PlainName(llvm::StringRef name);

// "__inference_train_step_221" without TensorFlow's prefix; also for a partition or an instance.
std::string WithoutPrefix(llvm::StringRef line);

// Returns the forms of a line's name, each plain, the exact one first:
//   __inference_Dataset_map_parse_11, Dataset_map_parse_11, Dataset_map_parse, parse
// Each form keeps what follows the function's name (", instance 2", "_partition_..."). A function
// that Grappler optimized in its caller's run, "CALLER: FUNCTION", also has its own name as a form.
std::vector<std::string> LineForms(llvm::StringRef line);

// "after remapper, iteration 0" without the part after the comma.
llvm::StringRef WithoutIteration(llvm::StringRef stage);

// Returns how exactly the plain `name` matches `stage`: 0 as it is, 1 without the iteration, 2
// without opt_group_..._phase_N. nullopt: no match.
std::optional<int> StageLevel(llvm::StringRef name, llvm::StringRef stage);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_STAGE_NAME_FORMS_H_
