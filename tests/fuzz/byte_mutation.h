// Mutates files of any content in one to eight places.
#ifndef GRAPNEL_TESTS_FUZZ_BYTE_MUTATION_H_
#define GRAPNEL_TESTS_FUZZ_BYTE_MUTATION_H_

#include <string>

#include "llvm/ADT/StringRef.h"
#include "tests/fuzz/random.h"

namespace grapnel {

// Mutates `bytes`; may copy parts of `other`, a file of the same kind. `bytes` grows by less than 4
// MiB. Returns a description: "cut at 12, 3 flips at 7".
std::string MutateBytes(Random& random, std::string& bytes, llvm::StringRef other);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_BYTE_MUTATION_H_
