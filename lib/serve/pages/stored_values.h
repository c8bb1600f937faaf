// The values that a model comes with for its variables, for the panels of a page.
#ifndef GRAPNEL_LIB_SERVE_PAGES_STORED_VALUES_H_
#define GRAPNEL_LIB_SERVE_PAGES_STORED_VALUES_H_

#include <optional>

#include "lib/job/opened_graph.h"
#include "lib/render/graph_page.h"

namespace grapnel {

// Returns the values of the variables of a graph, each of which is read when a panel first needs
// it; nullopt if the model comes without values. `opened` must outlive the result.
std::optional<PageValues> StoredValuesOf(const OpenedGraph& opened);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_STORED_VALUES_H_
