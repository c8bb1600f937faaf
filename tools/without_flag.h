// The flag `--without`, shared by the commands that run passes.
#ifndef GRAPNEL_TOOLS_WITHOUT_FLAG_H_
#define GRAPNEL_TOOLS_WITHOUT_FLAG_H_

#include <string>
#include <vector>

#include "tools/command_line.h"

namespace grapnel {

// Adds the flag; its values are for OptimizeOptions::without.
inline void AddWithoutFlag(CommandLine& line, std::vector<std::string>& names) {
  line.Option("--without", names,
              "leave out these passes and rules, such as remapper or remapper/fuse_bias (`grapnel "
              "passes` lists them)")
      .Separator(',')
      .ShownAs("PASS[/RULE],...");
}

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_WITHOUT_FLAG_H_
