// Tricky values for attributes and other fields of a graph.
#ifndef GRAPNEL_TESTS_FUZZ_VALUE_MUTATION_H_
#define GRAPNEL_TESTS_FUZZ_VALUE_MUTATION_H_

#include <algorithm>
#include <string>

#include "lib/proto/graph.pb.h"
#include "tests/fuzz/random.h"

namespace grapnel {

int64_t SomeInteger(Random& random);
std::string SomeString(Random& random);
// Usually a valid dtype, possibly a reference dtype.
proto::DataType SomeType(Random& random);

// Returns 0 for an empty list.
template <typename List>
int SomeIndex(Random& random, const List& list) {
  return static_cast<int>(random.Below(std::max<int64_t>(list.size(), 1)));
}

// Sets a value of any kind; functions are named from `graph`.
void SetValue(Random& random, proto::GraphDef& graph, proto::AttrValue& value);
// Changes the value but keeps its kind, which gets past type checks. False for a kind that it does
// not know.
bool ChangeWithinKind(Random& random, proto::GraphDef& graph, proto::AttrValue& value);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_VALUE_MUTATION_H_
