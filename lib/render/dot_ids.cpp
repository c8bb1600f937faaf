#include "lib/render/dot_ids.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace grapnel {
namespace {

// The identifiers of one graph. As in cgraph, named objects have even identifiers, unnamed objects
// odd ones.
struct Ids {
  Agraph_t* graph;
  std::unordered_map<std::string, IDTYPE> by_name;
  std::vector<char*> names;  // allocated by cgraph, which reads the bytes before a string
  IDTYPE next_unnamed = 1;
};

void* Open(Agraph_t* graph, Agdisc_t*) { return new Ids{graph, {}, {}}; }
void Close(void* state) { delete static_cast<Ids*>(state); }

long Map(void* state, int, char* name, IDTYPE* id, int may_create) {
  auto& ids = *static_cast<Ids*>(state);
  if (!name) {
    *id = ids.next_unnamed;
    ids.next_unnamed += 2;
    return 1;
  }
  auto found = ids.by_name.find(name);
  *id = found == ids.by_name.end() ? 0 : found->second;  // 0 if there is no such name
  if (*id || !may_create) return 1;
  ids.names.push_back(agstrdup(ids.graph, name));
  *id = ids.by_name[name] = 2 * ids.names.size();
  return 1;
}

long Allocate(void*, int, IDTYPE) { return 0; }  // identifiers cannot be chosen
void Free(void*, int, IDTYPE) {}                 // freed with the graph
void Register(void*, int, void*) {}

char* Print(void* state, int, IDTYPE id) {
  return id % 2 ? nullptr : static_cast<Ids*>(state)->names[id / 2 - 1];
}

}  // namespace

Agdisc_t& IdsInOrder() {
  static Agiddisc_t ids = {Open, Map, Allocate, Free, Print, Close, Register};
  static Agdisc_t discipline = {&AgMemDisc, &ids, &AgIoDisc};
  return discipline;
}

}  // namespace grapnel
