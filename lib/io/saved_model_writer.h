// Writes an opened SavedModel with its current graphs.
#ifndef GRAPNEL_LIB_IO_SAVED_MODEL_WRITER_H_
#define GRAPNEL_LIB_IO_SAVED_MODEL_WRITER_H_

#include "lib/io/open.h"

namespace grapnel {

// Checks that WriteSavedModel can write `model` to `folder`; writes nothing. Fails, for example, if
// the model was not opened from a SavedModel's folder or model file, or if `folder` is the model
// itself or inside it, is a file, or is not empty and has no saved_model.pb.
Error CheckCanWrite(const Model& model, llvm::StringRef folder);

// Writes `folder`: signatures, collections, object graph and other data unchanged, copies of
// variables, assets and other files, and the graphs of `model.graphs[i].module`. If the nodes of a
// graph changed, omits its control flow collections (while_context, cond_context): only gradients
// need them, and they may name removed nodes. The fingerprint and its uuid depend only on what is
// written and on the model's fingerprint, so the same model gives the same bytes. Writes
// saved_model.pb last: until then TensorFlow finds no model, or the previous one. Errors name the
// file or the folder. Needs memory for the whole serialized model and, for a while, for two more
// copies of one graph. `note`, JSON, is written to assets.extra/grapnel.json, in a directory that
// TensorFlow leaves to other programs.
Error WriteSavedModel(const Model& model, llvm::StringRef folder, llvm::StringRef note = "");

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SAVED_MODEL_WRITER_H_
