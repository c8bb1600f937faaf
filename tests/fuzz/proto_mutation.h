// Mutates valid graphs in one to six places: names, ops, inputs, attributes, functions.
#ifndef GRAPNEL_TESTS_FUZZ_PROTO_MUTATION_H_
#define GRAPNEL_TESTS_FUZZ_PROTO_MUTATION_H_

#include <string>

#include "lib/proto/graph.pb.h"
#include "tests/fuzz/random.h"

namespace grapnel {

// Returns a description: "node 'y': input 0 is 'y'".
std::string MutateGraphDef(Random& random, proto::GraphDef& graph);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_PROTO_MUTATION_H_
