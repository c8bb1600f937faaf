// Lines of the C++ program that a debugger steps through. Private to lib/job.
#ifndef GRAPNEL_LIB_JOB_DEBUG_SOURCE_H_
#define GRAPNEL_LIB_JOB_DEBUG_SOURCE_H_

#include <string>

#include "lib/job/debug_target.h"
#include "lib/support/error.h"

namespace grapnel {

// "mean.cpp:12 in HarmonicMean".
std::string PlaceText(const DebugLine& line);
// The line as it stands in its file, without blanks before and after; "": there is no such file or
// line.
std::string TextOfLine(const DebugLine& line);
// So many lines around it, with their numbers, and -> before it. Errors: the file cannot be read.
Expected<std::string> LinesAround(const DebugLine& line, int count);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DEBUG_SOURCE_H_
