#include "lib/ir/function_ends.h"

#include <gtest/gtest.h>

#include "lib/ir/text.h"

namespace grapnel {
namespace {

std::unique_ptr<Module> Parse(llvm::StringRef text) {
  std::vector<TextGraph> graphs = ReadGraphText(*FileBytes::FromString(text.str(), "test"));
  EXPECT_EQ(graphs.size(), 1u);
  return std::move(graphs[0].module);
}

std::vector<std::string> NamesOf(const Graph& graph, llvm::ArrayRef<NodeId> nodes) {
  std::vector<std::string> names;
  for (NodeId id : nodes) names.push_back(graph.node(id).name().str());
  return names;
}

using Names = std::vector<std::string>;

TEST(FunctionEndsTest, OrderedByIndex) {
  auto module = Parse(R"(
%late = _Arg {T=float, index=2}
%first = _DeviceArg {T=int32, index=0}
%middle = _Arg {T=bool, index=1}
%unread = Neg(%late)
%b = _Retval(%late) {index=1}
%a = _DeviceRetval(%first) {index=0}
)");
  EXPECT_TRUE(IsFunctionGraph(module->main));
  FunctionEnds ends = EndsOfFunctionGraph(module->main);
  EXPECT_EQ(NamesOf(module->main, ends.arguments), Names({"first", "middle", "late"}));
  EXPECT_EQ(NamesOf(module->main, ends.results), Names({"a", "b"}));
  EXPECT_TRUE(ends.stateful.empty());
  EXPECT_TRUE(ends.targets.empty());
}

TEST(FunctionEndsTest, EffectsOfInlinedCallsStandBehindTheirNoOp) {
  auto module = Parse(R"(
%x = _Arg {T=float, index=0}
%own = PrintV2("x")
%call/inner/print = PrintV2("y")
%call/inner = NoOp(^call/inner/print)
%call = NoOp(^call/inner)
%quiet = NoOp(^x)
%r = _Retval(%x) {index=0}
)");
  FunctionEnds ends = EndsOfFunctionGraph(module->main);
  EXPECT_EQ(NamesOf(module->main, ends.stateful), Names({"own", "call/inner/print"}));
  EXPECT_EQ(NamesOf(module->main, ends.targets), Names({"own", "call"}));
}

TEST(FunctionEndsTest, FindsEndsByNameOrIndex) {
  auto module = Parse(R"(
%x = _Arg {T=float, index=0}
%y = _Arg {T=float, index=1}
%1 = Neg(%x)
%r = _Retval(%1) {index=0}
)");
  const Graph& graph = module->main;
  EXPECT_EQ(FindArgument(graph, "0").name(), "x");
  EXPECT_EQ(FindArgument(graph, "y:0").name(), "y");
  EXPECT_FALSE(FindArgument(graph, "1")) << "a node has the name";
  EXPECT_FALSE(FindArgument(graph, "2"));
  EXPECT_FALSE(FindArgument(graph, "r"));
  EXPECT_FALSE(FindArgument(graph, "99999999999999999999"));
  EXPECT_EQ(FindResult(graph, "0").name(), "r");
  EXPECT_EQ(llvm::cantFail(FindFetch(graph, "r")), (Port{graph.Find("1").id(), 0}));
  EXPECT_EQ(llvm::cantFail(FindFetch(graph, "^r")), (Port{graph.Find("r").id(), kControlPort}));
  EXPECT_EQ(llvm::cantFail(FindEnd(graph, "r")), (Port{graph.Find("r").id(), 0}));
  EXPECT_FALSE(bool(FindFetch(graph, "^none"))) << "not found";
}

TEST(FunctionEndsTest, TypesOfArguments) {
  auto module = Parse(R"(
%x = _Arg {T=float, _output_shapes=[[2,?]], index=0}
%open = _Arg {T=string, index=1}
%variable = _Arg {T=resource, _handle_dtypes=[int64], _handle_shapes=[[3]], _output_shapes=[[]], index=2}
%table = _Arg {T=resource, _output_shapes=[[]], index=3}
)");
  const Graph& graph = module->main;
  EXPECT_EQ(TypeOfArgument(graph.Find("x")).ToString(), "float[2,?]");
  EXPECT_EQ(TypeOfArgument(graph.Find("open")).ToString(), "string");
  EXPECT_EQ(TypeOfArgument(graph.Find("variable")).ToString(), "resource of int64[3]");
  EXPECT_EQ(TypeOfArgument(graph.Find("table")).ToString(), "resource");
}

TEST(FunctionEndsTest, AnyOtherGraphHasNone) {
  auto module = Parse(R"(
%x = Placeholder {dtype=float}
%call = f(%x)
func @f(%a: float) -> (r: float) {
  %y = Neg(%a)
  return %y
}
)");
  EXPECT_FALSE(IsFunctionGraph(module->main));
}

}  // namespace
}  // namespace grapnel
