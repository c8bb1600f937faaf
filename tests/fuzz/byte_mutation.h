// Files made wrong in one to eight places, whatever is in them.
#ifndef GRAPNEL_TESTS_FUZZ_BYTE_MUTATION_H_
#define GRAPNEL_TESTS_FUZZ_BYTE_MUTATION_H_

#include <string>

#include "llvm/ADT/StringRef.h"
#include "tests/fuzz/random.h"

namespace grapnel {

// Changes `bytes`; parts of `other`, a file of the same kind, may end up in them. They stay below
// 4 MiB longer than they were. Says what it did: "cut at 12, 3 flips at 7".
std::string MutateBytes(Random& random, std::string& bytes, llvm::StringRef other);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_BYTE_MUTATION_H_
