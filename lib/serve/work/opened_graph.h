// A graph of a page that came from a file: what can be run and placed.
#ifndef GRAPNEL_LIB_SERVE_WORK_OPENED_GRAPH_H_
#define GRAPNEL_LIB_SERVE_WORK_OPENED_GRAPH_H_

#include <memory>

#include "lib/io/open.h"

namespace grapnel {

// Keeps its model.
struct OpenedGraph {
  std::shared_ptr<const Model> model;
  const GraphInFile* graph = nullptr;  // in `model`
  const Module& module() const { return *graph->module; }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_OPENED_GRAPH_H_
