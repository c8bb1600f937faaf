// Reads serialized tf.train.Examples and tf.train.SequenceExamples. Both keep their features in
// field 1, so one reader serves both an Example and the context of a SequenceExample.
#ifndef GRAPNEL_KERNELS_CPU_DATA_EXAMPLE_READER_H_
#define GRAPNEL_KERNELS_CPU_DATA_EXAMPLE_READER_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// One Feature: a list of strings, floats or int64s, still encoded. An empty one has DT_INVALID.
struct Feature {
  DataType dtype = proto::DT_INVALID;
  llvm::StringRef list;
};

// Calls `found` for each feature in serialized order; if a key occurs twice, the last one counts.
// False if the bytes are not a valid message.
bool ReadExample(llvm::StringRef example,
                 llvm::function_ref<void(llvm::StringRef key, const Feature&)> found);
// Calls `found` for each FeatureList in field 2 of a SequenceExample, still encoded.
bool ReadFeatureLists(llvm::StringRef sequence_example,
                      llvm::function_ref<void(llvm::StringRef key, llvm::StringRef list)> found);
bool ReadFeatureList(llvm::StringRef list, std::vector<Feature>* features);

// Returns the number of values, or -1 when the list is damaged. Callers count before they allocate,
// so that a false size cannot exhaust memory.
int64_t CountValues(const Feature& feature);
// Copies all values of a list that CountValues() accepted (std::string, float or int64_t) to
// element `at` of `to` and the following ones.
void FillValues(const Feature& feature, Tensor& to, int64_t at);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_EXAMPLE_READER_H_
