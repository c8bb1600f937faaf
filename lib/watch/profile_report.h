// A profile as tables, as JSON and as a table of nodes. Times are milliseconds per counted run.
#ifndef GRAPNEL_LIB_WATCH_PROFILE_REPORT_H_
#define GRAPNEL_LIB_WATCH_PROFILE_REPORT_H_

#include <map>
#include <string>

#include "lib/watch/profile.h"
#include "lib/watch/roofline.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes tables of layers, ops and nodes, at most `most` rows each, and the memory peak. With a
// roofline, the last table also has how many times longer a node took than it takes at least.
void WriteProfileText(const Profile& profile, const LayerNames& layers, size_t most,
                      const Roofline* roofline, llvm::raw_ostream& os);

// Writes the fields of an object: all layers, ops and nodes.
void WriteProfileJson(const Profile& profile, const LayerNames& layers, const Roofline* roofline,
                      llvm::json::OStream& json);

// Writes a line for each node as CSV, with its time first: `view --node-data` reads it.
void WriteProfileCsv(const Profile& profile, const LayerNames& layers, llvm::raw_ostream& os);

// Returns the time of each node by its name, "x" or "function/x". Compilations do not count.
std::map<std::string, double> TimesOfNodes(const Profile& profile);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_PROFILE_REPORT_H_
