// Lists the functions in a dump folder, and shows how to name one graph of the folder.
#ifndef GRAPNEL_LIB_JOB_DUMP_FOLDER_TEXT_H_
#define GRAPNEL_LIB_JOB_DUMP_FOLDER_TEXT_H_

#include <string>

#include "lib/io/open.h"

namespace grapnel {

// Returns one line per function, the largest first, with its number of stages, the number of nodes
// in its first and last stage, and the numbers of its partitions' stages and of its instances; then
// an example of a stage's name. Graphs that are not stages of a function are listed by file. `all`:
// lists all functions and files, else the first 20 of each. Errors: the folder cannot be read.
Expected<std::string> DumpFolderText(const Model& folder, bool all);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DUMP_FOLDER_TEXT_H_
