// Prints the layers of a model.
#ifndef GRAPNEL_LIB_JOB_LAYERS_TEXT_H_
#define GRAPNEL_LIB_JOB_LAYERS_TEXT_H_

#include "lib/job/model_layers.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Prints a table of the layers as model.summary() does, and the totals: a line for each layer of
// the model, at most 500; if `all`, for every layer, with those of nested models below them; with
// the FLOPs, and if `bytes` the bytes of the tensors that each layer creates, if costs are known.
// Prints nothing if there are no layers.
void WriteLayersText(const ModelLayers& layers, bool all, bool bytes, llvm::raw_ostream& os);

// Writes the members "layers" and "totals" into the JSON object that `json` has begun; nothing
// if there are no layers.
void WriteLayersJson(const ModelLayers& layers, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_LAYERS_TEXT_H_
