// The flag `--onednn`, shared by the commands that run passes or kernels.
#ifndef GRAPNEL_TOOLS_ONEDNN_FLAG_H_
#define GRAPNEL_TOOLS_ONEDNN_FLAG_H_

#include <string>

#include "lib/support/onednn.h"
#include "tools/command_line.h"

namespace grapnel {

struct OneDnnFlag {
  std::string word = "auto";
  void AddTo(CommandLine& line) {
    line.Option("--onednn", word,
                "imitate TensorFlow with or without oneDNN; auto: as TensorFlow decides from this "
                "processor and TF_ENABLE_ONEDNN_OPTS")
        .OneOf({"auto", "on", "off"})
        .ShowDefault();
  }
  OneDnn choice() const { return ParseOneDnn(word).value_or(OneDnn::kAuto); }
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_ONEDNN_FLAG_H_
