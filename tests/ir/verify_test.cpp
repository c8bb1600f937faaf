#include "lib/ir/verify.h"

#include <gtest/gtest.h>

#include "lib/ir/attr.h"
#include "lib/ir/wire_map.h"

namespace grapnel {
namespace {

// A dtype that depends on a function's attribute is an error in the main graph but not in the
// function, although op and attributes are the same bytes.
TEST(VerifyTest, AFunctionsAttributesAreItsOwn) {
  Module module;
  Function* function = module.AddFunction("f");
  std::string placeholder, attrs;
  AppendBytesField(&placeholder, 9, "T");  // AttrValue.placeholder
  AppendMapEntry(&attrs, 5, "T", placeholder);
  for (Graph* graph : {&module.main, &function->body}) {
    NodeId x = graph->AddNode("x", "Placeholder");
    graph->SetAttr(x, "dtype", attr::Type(proto::DT_FLOAT));
    NodeId relu = graph->AddNode("relu", "Relu");
    graph->AddInput(relu, {x, 0});
    graph->ShareAttrs(relu, module.Keep(attrs));
  }
  std::vector<Problem> problems = VerifyModule(module);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].where, "relu");
  EXPECT_EQ(problems[0].text, "attribute 'T' is missing or not a dtype");
}

// Attributes that say the dtypes of no argument are required, too.
TEST(VerifyTest, RequiredAttributesOfAllTypes) {
  Module module;
  module.main.AddNode("handle", "VarHandleOp");
  NodeId queue = module.main.AddNode("queue", "FIFOQueueV2");
  std::vector<std::string> texts;
  for (const Problem& problem : VerifyModule(module)) texts.push_back(problem.ToString());
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "node 'handle': attribute 'dtype' (type) is missing",
                       "node 'handle': attribute 'shape' (shape) is missing",
                       "node 'queue': attribute 'component_types' (list(type)) is missing"}));
  module.main.SetAttr(queue, "component_types", attr::Types({proto::DT_FLOAT}));
  EXPECT_EQ(VerifyModule(module).size(), 2u);
}

// A wrong call is reported for each of its nodes, a correct one for none.
TEST(VerifyTest, CallsThatAreAlike) {
  Module module;
  for (const char* name : {"a", "b"}) {
    NodeId call = module.main.AddNode(name, "PartitionedCall");
    std::string attrs;
    AppendMapEntry(&attrs, 5, "Tin", attr::Types({}));
    AppendMapEntry(&attrs, 5, "Tout", attr::Types({}));
    AppendMapEntry(&attrs, 5, "f", attr::Func("f"));
    module.main.ShareAttrs(call, module.Keep(attrs));
  }
  EXPECT_EQ(VerifyModule(module).size(), 2u);
  module.AddFunction("f");
  EXPECT_TRUE(VerifyModule(module).empty());
}

}  // namespace
}  // namespace grapnel
