// Writes an opened SavedModel with its current graphs.
#ifndef GRAPNEL_LIB_IO_SAVED_MODEL_WRITER_H_
#define GRAPNEL_LIB_IO_SAVED_MODEL_WRITER_H_

#include "lib/io/open.h"

namespace grapnel {

// Returns why a SavedModel of `model` cannot be written to `folder`: the model was not opened from
// a SavedModel folder; `folder` is the model itself, a file, or contains something other than a
// SavedModel. Writes nothing.
Error CheckCanWrite(const Model& model, llvm::StringRef folder);

// Writes `folder`: signatures, collections, object graph and other data unchanged, copies of
// variables, assets and other files, and the graphs of `model.graphs[i].module`. If a graph's nodes
// changed, drops its control flow collections (while_context, cond_context): only gradients need
// them, and they may name removed nodes. The fingerprint covers what is written, and its uuid
// depends on that too, so the same model gives the same bytes. Writes saved_model.pb last: until
// then TensorFlow finds none, or the previous one. Errors name the file. Needs memory for one graph
// beside the model. `note`, JSON, goes into assets.extra/grapnel.json, a directory that TensorFlow
// reserves for others.
Error WriteSavedModel(const Model& model, llvm::StringRef folder, llvm::StringRef note = "");

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SAVED_MODEL_WRITER_H_
