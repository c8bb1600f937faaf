// The tab with a table of all nodes; reads only the graph's index.
#include "lib/serve/routes/tab.h"

namespace grapnel {
namespace {

GRAPNEL_TAB({.place = 40, .name = "nodes"});

}  // namespace
}  // namespace grapnel
