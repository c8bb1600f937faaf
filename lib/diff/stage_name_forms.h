// The forms that a name of a function or a stage may have, from exact to short. Private to
// lib/diff.
#ifndef GRAPNEL_LIB_DIFF_STAGE_NAME_FORMS_H_
#define GRAPNEL_LIB_DIFF_STAGE_NAME_FORMS_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// With blanks for underscores, and without commas: what is the same in two names is the same then.
std::string PlainName(llvm::StringRef name);

// "__inference_train_step_221" without TensorFlow's prefix; also of a partition or an instance.
std::string WithoutPrefix(llvm::StringRef line);

// The forms of a line's name, each plain, the exact one first:
//   __inference_Dataset_map_parse_11, Dataset_map_parse_11, Dataset_map_parse, parse
// What follows the function's name (", instance 2", "_partition_...") stays in each. A function
// that Grappler optimized in its caller's run, "CALLER: FUNCTION", goes by its own name too.
std::vector<std::string> LineForms(llvm::StringRef line);

// "after remapper, iteration 0" without what follows the comma.
llvm::StringRef WithoutIteration(llvm::StringRef stage);

// How exactly the plain `name` names `stage`: 0 as it stands, 1 without the iteration, 2 without
// opt_group_..._phase_N. nullopt: not at all.
std::optional<int> StageLevel(llvm::StringRef name, llvm::StringRef stage);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_STAGE_NAME_FORMS_H_
