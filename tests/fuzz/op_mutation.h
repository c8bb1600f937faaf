// Mutates runnable graphs in one to three places: values, shapes, dtypes and attributes that ops
// read.
#ifndef GRAPNEL_TESTS_FUZZ_OP_MUTATION_H_
#define GRAPNEL_TESTS_FUZZ_OP_MUTATION_H_

#include <string>
#include <vector>

#include "lib/ir/literal.h"
#include "lib/ir/module.h"
#include "tests/fuzz/random.h"

namespace grapnel {

struct MutatedFeed {
  std::string tensor;  // "x:0"
  Literal value;
};

// Changes the module or the feeds' values. Returns a description: "node 'y': attribute 'axis' =
// -1".
std::string Mutate(Random& random, Module& module, std::vector<MutatedFeed>& feeds);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_OP_MUTATION_H_
