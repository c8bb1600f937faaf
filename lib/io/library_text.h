// The functions of a library as a person reads them.
#ifndef GRAPNEL_LIB_IO_LIBRARY_TEXT_H_
#define GRAPNEL_LIB_IO_LIBRARY_TEXT_H_

#include <string>

#include "lib/library/function_library.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// A row for each Python function, and below it a line for each trace: arguments, constants that
// were arguments, what it has and lacks, gradient, who runs it. Nothing of an empty library. Long
// lists are cut short and say so, unless `all`.
void WriteLibraryText(const FunctionLibrary& library, bool all, llvm::raw_ostream& os);

// "forward 66": the Python function and the number of the trace, where that says which it is; else
// the name.
std::string ShortName(const LibraryFunction& function);

// "x, y float[4,8], lr float[], 2 captured": those of one type after each other share it.
std::string ArgumentsText(const LibraryFunction& function, size_t limit = ~size_t{0});
// "lr = 0.5, a constant (mul/x, mul_1/x)".
std::string ConstantText(const TraceConstant& constant);
// Names with those of one scope as "dropout/ (8 nodes)".
std::vector<std::string> ByScope(llvm::ArrayRef<std::string> names);
// "body of While 'while' in countdown 97"; empty of what no op runs as a part of its own.
std::string PartOfText(const FunctionLibrary& library, const LibraryFunction& function);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LIBRARY_TEXT_H_
