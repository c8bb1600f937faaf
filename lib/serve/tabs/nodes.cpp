// All nodes as a table, of the graph's index alone.
#include "lib/serve/pages/tab.h"

namespace grapnel {
namespace {

GRAPNEL_TAB({.place = 40, .name = "nodes"});

}  // namespace
}  // namespace grapnel
