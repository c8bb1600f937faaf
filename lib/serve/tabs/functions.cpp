// The library's functions as a tree of calls and a table, of the model's document alone.
#include "lib/serve/pages/tab.h"

namespace grapnel {
namespace {

GRAPNEL_TAB({.place = 30, .name = "functions"});

}  // namespace
}  // namespace grapnel
