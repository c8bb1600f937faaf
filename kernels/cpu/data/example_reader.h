// tf.train.Example and tf.train.SequenceExample as they lie in their bytes. Both keep their
// features in field 1, so one reader serves for an Example and for a SequenceExample's context.
#ifndef GRAPNEL_KERNELS_CPU_DATA_EXAMPLE_READER_H_
#define GRAPNEL_KERNELS_CPU_DATA_EXAMPLE_READER_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// One Feature: a list of strings, floats or int64s, still encoded. DT_INVALID: it says nothing.
struct Feature {
  DataType dtype = proto::DT_INVALID;
  llvm::StringRef list;
};

// Each feature in the order of the bytes; of a key that comes twice, the last one counts. False
// when the bytes are no such message.
bool ReadExample(llvm::StringRef example,
                 llvm::function_ref<void(llvm::StringRef key, const Feature&)> found);
// The lists of features in field 2 of a SequenceExample, each still encoded.
bool ReadFeatureLists(llvm::StringRef sequence_example,
                      llvm::function_ref<void(llvm::StringRef key, llvm::StringRef list)> found);
bool ReadFeatureList(llvm::StringRef list, std::vector<Feature>* features);

// How many values there are, or -1 when the list is damaged: what a list claims is counted before
// anything is allocated for it.
int64_t CountValues(const Feature& feature);
// Values [0, count) of a list that CountValues() found good: std::string, float or int64_t from
// element `at` of `to` on.
void FillValues(const Feature& feature, Tensor& to, int64_t at);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_EXAMPLE_READER_H_
