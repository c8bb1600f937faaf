// A job: git shows what differs between graphs.
#ifndef GRAPNEL_LIB_JOB_GIT_SETUP_H_
#define GRAPNEL_LIB_JOB_GIT_SETUP_H_

#include <string>
#include <vector>

#include "lib/support/error.h"

namespace grapnel {

struct GitSetupRequest {
  bool global = false;  // of the user; else of the repository that the working folder is in
  std::string grapnel;  // the program, as git is to call it
};

struct GitSetup {
  std::string attributes;          // the file that says which files are graphs
  std::vector<std::string> lines;  // that were added there
};

// Sets git's diff driver `grapnel`, which shows a graph as text (`git diff`), and its difftool of
// that name, which opens a picture of both. Said again nothing changes. Errors: git is not there,
// or the working folder is in no repository.
Expected<GitSetup> SetUpGit(const GitSetupRequest& request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_GIT_SETUP_H_
