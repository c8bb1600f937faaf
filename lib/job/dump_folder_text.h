// What a folder of dumps holds, for people who look for one graph in it.
#ifndef GRAPNEL_LIB_JOB_DUMP_FOLDER_TEXT_H_
#define GRAPNEL_LIB_JOB_DUMP_FOLDER_TEXT_H_

#include <string>

#include "lib/io/open.h"

namespace grapnel {

// A line a function, the largest first: how many stages it has, and nodes of the first and the
// last; then how to name one. Of graphs that tell no story, as several models in one folder, their
// files. `all`: no list is cut short. Errors: the folder cannot be read.
Expected<std::string> DumpFolderText(const Model& folder, bool all);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DUMP_FOLDER_TEXT_H_
