// The flag `--node` of `passes --why-not` and `opt --why-not`.
#ifndef GRAPNEL_TOOLS_NODE_QUESTION_FLAG_H_
#define GRAPNEL_TOOLS_NODE_QUESTION_FLAG_H_

#include <memory>
#include <string>

#include "lib/job/node_question.h"
#include "lib/job/opened_graph.h"
#include "tools/command_line.h"

namespace grapnel {

struct NodeQuestionFlag {
  std::string node;

  void AddTo(CommandLine& line) {
    line.Option("--node", node,
                "with --why-not: what became of this node, of the nodes of this layer, or of those "
                "that match this pattern; which rules came close, and what would make them fire")
        .ShownAs("NODE|LAYER|GLOB");
  }
  // Returns the question about the graph, only about the rules that `rule` names if it is not
  // empty; null if the flag was not given.
  Expected<std::unique_ptr<NodeQuestion>> Ask(const OpenedGraph& opened,
                                              const std::string& rule = "") const {
    if (node.empty()) return nullptr;
    auto question = NodeQuestion::About(opened, node, rule);
    if (!question) return Annotate("--node", question.takeError());
    return question;
  }
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_NODE_QUESTION_FLAG_H_
