// A job: sets up git to show the differences between graphs.
#ifndef GRAPNEL_LIB_JOB_GIT_SETUP_H_
#define GRAPNEL_LIB_JOB_GIT_SETUP_H_

#include <string>
#include <vector>

#include "lib/support/error.h"

namespace grapnel {

struct GitSetupRequest {
  bool global = false;  // true: the user's configuration; false: the current repository's
  std::string grapnel;  // the path of grapnel, or its name on PATH, by which git calls it
};

struct GitSetup {
  std::string attributes;          // the gitattributes file that lists graph files
  std::vector<std::string> lines;  // the lines added to that file
};

// Configures git's diff driver `grapnel`, which shows a graph as text (`git diff`), and its
// difftool `grapnel`, which opens a page of both graphs, and adds the graph files to the
// gitattributes file. A second call changes nothing. Errors: git is not installed or fails, as it
// does without `global` outside of a repository; the gitattributes file cannot be read or written.
Expected<GitSetup> SetUpGit(const GitSetupRequest& request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_GIT_SETUP_H_
