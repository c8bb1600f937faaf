// Writes SavedModels: one that was opened, with the graphs that it holds by now.
#ifndef GRAPNEL_LIB_IO_SAVED_MODEL_WRITER_H_
#define GRAPNEL_LIB_IO_SAVED_MODEL_WRITER_H_

#include "lib/io/open.h"

namespace grapnel {

// What an error says against writing a SavedModel of `model` to `folder`: it is no SavedModel that
// was opened from a folder; `folder` is the model itself, a file, or holds something that is no
// SavedModel. Nothing is written.
Error CheckCanWrite(const Model& model, llvm::StringRef folder);

// Writes `folder`: signatures, collections, object graph and what else the file says as they are,
// variables, assets and other files copied, the graphs from `model.graphs[i].module`. Of a graph
// whose nodes changed the collections that speak of control flow (while_context, cond_context) go:
// only gradients need them, and they name nodes that may be gone. The fingerprint is of what is
// written; its uuid follows from that too, so the same model gives the same bytes. saved_model.pb
// comes last: until then TensorFlow finds none, or the one that was there before. Errors name the
// file. Needs memory for one graph beside the model.
// `note`, JSON, goes into assets.extra/grapnel.json, a folder that TensorFlow leaves to others.
Error WriteSavedModel(const Model& model, llvm::StringRef folder, llvm::StringRef note = "");

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SAVED_MODEL_WRITER_H_
