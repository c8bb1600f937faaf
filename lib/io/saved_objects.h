// Reads the objects of a SavedModel.
#ifndef GRAPNEL_LIB_IO_SAVED_OBJECTS_H_
#define GRAPNEL_LIB_IO_SAVED_OBJECTS_H_

#include "lib/io/open.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

namespace proto {
class SavedObjectGraph;
}

// Sets `saved` to the object graph of the file. Returns false if there is none, or if it cannot be
// parsed.
bool ReadSavedObjects(const GraphInFile& graph, proto::SavedObjectGraph* saved);

// Calls `visit` with each output of a main-graph node that a call passes to a function of the
// object graph in place of an object that the function captures, and with the object, an index in
// SavedObjectGraph.nodes.
void VisitCaptures(const GraphInFile& graph, const proto::SavedObjectGraph& saved,
                   llvm::function_ref<void(Port given, int object)> visit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SAVED_OBJECTS_H_
