// Values that readers trip over, for attributes and the other fields of a graph.
#ifndef GRAPNEL_TESTS_FUZZ_VALUE_MUTATION_H_
#define GRAPNEL_TESTS_FUZZ_VALUE_MUTATION_H_

#include <algorithm>
#include <string>

#include "lib/proto/graph.pb.h"
#include "tests/fuzz/random.h"

namespace grapnel {

int64_t SomeInteger(Random& random);
std::string SomeString(Random& random);
// Most are dtypes, reference dtypes too.
proto::DataType SomeType(Random& random);

// 0 where the list has none.
template <typename List>
int SomeIndex(Random& random, const List& list) {
  return static_cast<int>(random.Below(std::max<int64_t>(list.size(), 1)));
}

// The value may be of any kind; `graph` has the functions that it may name.
void SetValue(Random& random, proto::GraphDef& graph, proto::AttrValue& value);
// The value stays of its kind, which reaches further than one that is refused for it. False where
// it has none that is known here.
bool ChangeWithinKind(Random& random, proto::GraphDef& graph, proto::AttrValue& value);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_VALUE_MUTATION_H_
