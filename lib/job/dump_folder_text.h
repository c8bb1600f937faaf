// Lists the functions in a folder of dumps, and how to name one of its graphs.
#ifndef GRAPNEL_LIB_JOB_DUMP_FOLDER_TEXT_H_
#define GRAPNEL_LIB_JOB_DUMP_FOLDER_TEXT_H_

#include <string>

#include "lib/io/open.h"

namespace grapnel {

// Writes a line for each function, the largest first, with its number of stages and the nodes of
// its first and last; then an example of a stage's name. Unrelated graphs are listed by file.
// `all`: every line. Errors: the folder cannot be read.
Expected<std::string> DumpFolderText(const Model& folder, bool all);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DUMP_FOLDER_TEXT_H_
