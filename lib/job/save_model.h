// Saves a traced model with its values as a SavedModel that TensorFlow can load, call and train.
#ifndef GRAPNEL_LIB_JOB_SAVE_MODEL_H_
#define GRAPNEL_LIB_JOB_SAVE_MODEL_H_

#include <vector>

#include "lib/exec/session.h"
#include "lib/trace/model.h"

namespace grapnel {

// Writes `folder`: each function of the model as a signature and as a method of the loaded object
// (`loaded.train_step(x, y)`), variables as attributes by the parts of their names
// (`loaded.dense.kernel`) and all of them as `loaded.variables`, ops that save and restore, and the
// values in `session`. saved_model.pb is written last; until then, an existing saved_model.pb
// stays. Errors: a variable without a value; a file that cannot be written; `folder` contains
// files, but no saved_model.pb.
Error SaveTracedModel(const TracedModel& model, const Session& session, llvm::StringRef folder);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SAVE_MODEL_H_
