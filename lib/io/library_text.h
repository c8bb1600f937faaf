// Prints the functions of a library for users.
#ifndef GRAPNEL_LIB_IO_LIBRARY_TEXT_H_
#define GRAPNEL_LIB_IO_LIBRARY_TEXT_H_

#include <string>

#include "lib/ir/short_names.h"
#include "lib/library/function_library.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Prints a row for each Python function and each group of other functions, and below it a line for
// each trace or function that is not named in the line of another one: its arguments, its values
// that differ from those of other traces of the Python function, the nodes that few traces have or
// that only few lack, its gradient, and the functions that it calls. Prints a row with only one
// such line as a single line. Prints nothing for an empty library. Truncates long lists, with a
// note, unless `all`.
void WriteLibraryText(const FunctionLibrary& library, bool all, llvm::raw_ostream& os,
                      const ShortNames& names = {});

// Returns a name such as "forward 66", the Python function's name and the number of the trace, if
// these identify the function; otherwise the function's own name.
std::string ShortName(const LibraryFunction& function);

// Returns a text such as "x, y float[4,8], lr float[], 2 captured"; consecutive arguments of the
// same type share the type's text. Shows at most `limit` groups of arguments with the same type.
// "no arguments" for a function without arguments.
std::string ArgumentsText(const LibraryFunction& function, size_t limit = ~size_t{0});
// Returns "lr = 0.5, a constant (mul/x, mul_1/x)"; "mul/x, mul_1/x = 0.5" if the argument is
// unknown.
std::string ConstantText(const TraceConstant& constant);
// Groups node names by their outermost scope, as in "dropout/ (8 nodes)"; the only name in a scope
// stays as it is.
std::vector<std::string> ByScope(llvm::ArrayRef<std::string> names);
// Returns a text such as "body of While 'while' in countdown 97"; empty for a function without a
// part (see LibraryFunction::part).
std::string PartOfText(const FunctionLibrary& library, const LibraryFunction& function);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LIBRARY_TEXT_H_
