// Prints the values of a model, in numbers.
#ifndef GRAPNEL_LIB_JOB_VALUES_TEXT_H_
#define GRAPNEL_LIB_JOB_VALUES_TEXT_H_

#include <string>

#include "lib/io/value_row.h"
#include "lib/ir/short_names.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Returns "2 variables have NaN: dense/kernel, dense/bias; 1 constant has infinities: c"; empty if
// no value has either.
std::string NotFiniteText(llvm::ArrayRef<ValueRow> rows, const ShortNames& names);

// Prints a table of the variables, in the order of `rows`, and a table of the constants, those with
// the most elements first. Truncates both unless `all`.
void WriteValuesText(llvm::ArrayRef<ValueRow> rows, bool all, const ShortNames& names,
                     llvm::raw_ostream& os);

// Writes the member "values" into the JSON object that `json` has begun.
void WriteValuesJson(llvm::ArrayRef<ValueRow> rows, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_VALUES_TEXT_H_
