#include "lib/ir/text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/io/open.h"
#include "lib/io/write.h"
#include "lib/ir/literal.h"
#include "lib/ir/verify.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

std::vector<TextGraph> Read(llvm::StringRef text) {
  return ReadGraphText(*FileBytes::FromString(text.str(), "test"));
}

std::string Exactly(const Module& module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  TextOptions options;
  options.exact = true;
  WriteGraphAsText(module, options, os);
  return text;
}

std::string ForPeople(const Module& module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  WriteGraphAsText(module, {}, os);
  return text;
}

// The human-readable text of the only graph in `text`, which must be valid.
std::string Again(llvm::StringRef text) {
  std::vector<TextGraph> graphs = Read(text);
  EXPECT_EQ(graphs.size(), 1u);
  for (const Problem& problem : AllProblems(*graphs[0].module)) ADD_FAILURE() << problem.ToString();
  return ForPeople(*graphs[0].module);
}

std::vector<std::string> ErrorsOf(llvm::StringRef text) {
  std::vector<std::string> errors;
  for (const TextGraph& graph : Read(text)) {
    for (const Problem& problem : AllProblems(*graph.module)) errors.push_back(problem.ToString());
  }
  return errors;
}

std::string FirstError(llvm::StringRef text) {
  std::vector<std::string> errors = ErrorsOf(text);
  return errors.empty() ? "" : errors[0];
}

// Each graph file below `folder`.
std::vector<std::string> GraphFiles(llvm::StringRef folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error)) {
    llvm::StringRef suffix = llvm::sys::path::extension(it->path());
    bool is_graph = suffix == ".pb" || suffix == ".pbtxt" || suffix == ".meta";
    if (is_graph || suffix == ".zip") files.push_back(it->path());  // a case in one file
  }
  return files;
}

int NumErrors(const Module& module) {
  return llvm::count_if(AllProblems(module),
                        [](const Problem& p) { return p.severity == Severity::kError; });
}

TEST(TextTest, EveryGraphOfTestdataReadsBackAsItWas) {
  int graphs = 0;
  std::vector<std::string> files = GraphFiles("testdata");
  for (const std::string& more : GraphFiles("../shared")) files.push_back(more);
  for (const std::string& file : files) {
    auto model = OpenModel(file);
    if (!model) {
      llvm::consumeError(model.takeError());  // a RewriterConfig or similar
      continue;
    }
    for (const GraphInFile& graph : model->graphs) {
      if (!graph.module) continue;
      ++graphs;
      std::vector<TextGraph> exact = Read(Exactly(*graph.module));
      ASSERT_EQ(exact.size(), 1u) << file;
      // Not EXPECT_EQ: gtest takes minutes for the difference of two large texts.
      EXPECT_TRUE(GraphText(*graph.module) == GraphText(*exact[0].module)) << file;
      std::vector<TextGraph> brief = Read(ForPeople(*graph.module));
      if (NumErrors(*graph.module) == 0) EXPECT_EQ(NumErrors(*brief[0].module), 0) << file;
    }
  }
  EXPECT_GT(graphs, 500);
}

TEST(TextTest, LeavesOutWhatFollows) {
  EXPECT_EQ(Again("%x = Placeholder {dtype=float, shape=[2,3]}\n"
                  "%t = Transpose(%x, [1,0])\n"
                  "%u = Transpose(%t, int64 [1,0]) {Tperm=int64}\n"
                  "%n = AddN(%x, %u)\n"
                  "%y = Identity(%n, ^x) @cpu:0\n"),
            "%x = Placeholder {dtype=float, shape=[2,3]}\n"
            "%t = Transpose(%x, [1,0])\n"
            "%u = Transpose(%t, int64 [1,0])\n"
            "%n = AddN(%x, %u)\n"
            "%y = Identity(%n, ^x) @cpu:0\n");
}

TEST(TextTest, FillsInTypesAndNumbers) {
  std::vector<TextGraph> graphs = Read(
      "%x = Placeholder {dtype=half}\n"
      "%c = ConcatV2(%x, %x, 1.5, 0)\n"
      "%l = IdentityN(%c, 3, \"a\")\n");
  const Graph& main = graphs[0].module->main;
  EXPECT_EQ(main.Find("c").GetInt("N"), 3);
  EXPECT_EQ(main.Find("c").GetType("T"), proto::DT_HALF);
  EXPECT_EQ(main.Find("c").GetType("Tidx"), proto::DT_INT32);
  EXPECT_EQ(main.Find("c/values_2").GetType("dtype"), proto::DT_HALF);
  EXPECT_EQ(main.Find("c/axis").GetType("dtype"), proto::DT_INT32);
  EXPECT_EQ(*main.Find("l").FindAttr("T")->AsTypes(),
            (std::vector<DataType>{proto::DT_HALF, proto::DT_INT32, proto::DT_STRING}));
}

TEST(TextTest, TypesGoRoundLoops) {
  std::string loop =
      "%x = Placeholder {dtype=double, shape=[]}\n"
      "%e = Enter(%x) {frame_name=\"w\"}\n"
      "%m = Merge(%e, %n)\n"
      "%less = Less(%m, 9.0)\n"
      "%cond = LoopCond(%less)\n"
      "%s = Switch(%m, %cond)\n"
      "%exit = Exit(%s)\n"
      "%body = Mul(%s:1, 2.0, ^e)\n"
      "%n = NextIteration(%body)\n";
  std::vector<TextGraph> graphs = Read(loop);
  EXPECT_EQ(graphs[0].module->main.Find("body").GetType("T"), proto::DT_DOUBLE);
  EXPECT_EQ(graphs[0].module->main.Find("m").GetInt("N"), 2);
}

TEST(TextTest, Constants) {
  EXPECT_EQ(Again("%a = Const [[1,2],[3,4]]\n"
                  "%b = Const [1,2,3,4] : int64[2,2]\n"
                  "%c = Const 0.5 : float[1000]\n"
                  "%d = Const [\"a\\\"b\", \"\\xff\"]\n"
                  "%e = Const [] : bfloat16[0,3]\n"
                  "%f = Const [1.0+2.0j,-0.0-infj]\n"
                  "%r = Const [1,-2.5e-3,3e-2j] : complex128\n"
                  "%g = Const half 0.1\n"
                  "%h = Const [true,false] {dtype=bool}\n"
                  "%i = Const 18446744073709551615 : uint64[]\n"),
            "%a = Const [[1,2],[3,4]] : int32[2,2]\n"
            "%b = Const [[1,2],[3,4]] : int64[2,2]\n"
            "%c = Const 0.5 : float[1000]\n"
            "%d = Const [\"a\\\"b\",\"\\xFF\"] : string[2]\n"
            "%e = Const [] : bfloat16[0,3]\n"
            "%f = Const [1.0+2.0j,-0.0-infj] : complex64[2]\n"
            "%r = Const [1.0+0.0j,-0.0025+0.0j,0.0+0.03j] : complex128[3]\n"
            "%g = Const 0.1 : half[]\n"
            "%h = Const [true,false] : bool[2]\n"
            "%i = Const 18446744073709551615 : uint64[]\n");
}

TEST(TextTest, Functions) {
  std::string text =
      "%x = Placeholder {dtype=float, shape=[2]}\n"
      "%y = PartitionedCall(%x) {f=@f}\n"
      "%z = Neg(%y:1)\n"
      "\n"
      "func @f(%a: float) -> (n: int32, s: float) stateful attributes {_noinline=true} {\n"
      "  %split = Split(0, %a) {num_split=2}\n"
      "  %size = Size(%a)\n"
      "  %print = PrintV2(\"f\", ^size)\n"
      "  return %size, %split:1, ^print\n"
      "}\n";
  EXPECT_EQ(Again(text), text);
  std::vector<TextGraph> graphs = Read(text);
  const Module& module = *graphs[0].module;
  EXPECT_EQ(module.main.Find("z").GetType("T"), proto::DT_FLOAT);
  EXPECT_EQ(module.FindFunction("f")->control_results.size(), 1u);
}

TEST(TextTest, PolymorphicFunctions) {
  std::string text =
      "%x = Placeholder {dtype=half, shape=[2]}\n"
      "%y = f(%x, %x, %x) {n=2}\n"
      "\n"
      "func @f[T: type = float, N: int, Ts: list(type)](%a: T, %b: N*T, %c: Ts..., %d: N*int32) -> "
      "(y: T) {\n"
      "  %n = Neg(%a) {T=$T}\n"
      "  return %n\n"
      "}\n";
  std::vector<TextGraph> graphs = Read(text);
  EXPECT_EQ(ForPeople(*graphs[0].module), text);
  const OpInfo& info = graphs[0].module->FindFunction("f")->info;
  EXPECT_EQ(info.inputs[1].number_attr, "N");
  EXPECT_EQ(info.inputs[2].type_list_attr, "Ts");
}

TEST(TextTest, SeveralGraphsWithTitlesAndEnds) {
  std::vector<TextGraph> graphs = Read(
      "# RUN: nothing\n"
      "--- first\n%x = Placeholder {dtype=float}\nfetch %x, %x:1\nfeed %x\n"
      "-----\n%y = NoOp\nfetch ^y\n");
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_EQ(graphs[0].title, "first");
  EXPECT_EQ(graphs[0].fetches, (std::vector<std::string>{"x", "x:1"}));
  EXPECT_EQ(graphs[0].feeds, std::vector<std::string>{"x"});
  EXPECT_EQ(graphs[1].title, "2");
  EXPECT_EQ(graphs[1].fetches, std::vector<std::string>{"^y"});
  EXPECT_TRUE(graphs[1].module->main.Find("y"));
}

TEST(TextTest, ErrorsNameLineAndColumn) {
  EXPECT_EQ(FirstError("%x = Placeholder {dtype=float}\n%y = Neg(%z)\n"),
            "2:10: node 'y': input 'z' not found; there are 'x', 'y'");
  EXPECT_EQ(FirstError("%x = Neg(%x\n%y = NoOp\n"), "2:1: expected ')'");
  EXPECT_EQ(FirstError("%c = Const [[1,2],[3]]\n"),
            "1:19: this list has 1 elements, the first has 2");
  EXPECT_EQ(FirstError("%c = Const [1,\"a\"] : int32[2]\n"),
            "1:12: node 'c': 'a' is not of type int32");
  EXPECT_EQ(FirstError("%c = Const [1,2,3] : int32[2]\n"),
            "1:12: node 'c': 3 elements are written, the shape [2] has 2");
  EXPECT_EQ(FirstError("%x = Placeholder {dtype=float, shape=[2]} : int32[2]\n"),
            "1:45: node 'x': output 0 is float, but the text says int32");
  EXPECT_EQ(FirstError("%x = Placeholder {dtype=float, dtype=int32}\n"),
            "1:32: attribute 'dtype' occurs twice");
  EXPECT_EQ(FirstError("%x = Placeholder {dtype=nofloat}\n"),
            "1:25: 'nofloat' is not an attribute value: strings need quotes");
  EXPECT_EQ(FirstError("%m = Merge(%n)\n%n = NextIteration(%m)\n"),
            "1:1: node 'm': 'T' does not follow from the node's inputs: write {T=...}");
  EXPECT_THAT(FirstError("%x = NoOp @gpu:x\n"),
              testing::StartsWith("1:12: malformed device name 'gpu:x': expected a type"));
  EXPECT_EQ(FirstError("hello"),
            "1:1: expected a node (%name = Op(...)), func, fetch, feed or producer");
  EXPECT_EQ(FirstError("func @f() -> () {\n%x = NoOp\n"),
            "3:1: expected '}' at the end of function 'f'");
  EXPECT_EQ(FirstError("%s = Const \"abc\n"), "1:12: a quote is missing at the end of this text");
  // Problems found by the verifier have their line too.
  EXPECT_EQ(FirstError("%x = NoOp\n\n%y = Neg {T=float}\n"),
            "3:1: node 'y': has 0 inputs, op 'Neg' takes 1");
}

TEST(TextTest, ReadingGoesOnAfterAnError) {
  std::vector<TextGraph> graphs =
      Read("%a = (\n%b = NoOp\nfunc @f( -> {\n}\n%c = Neg(%b\n%d = NoOp(^b)\n");
  EXPECT_TRUE(graphs[0].module->main.Find("b"));
  EXPECT_TRUE(graphs[0].module->main.Find("d"));
  EXPECT_GE(graphs[0].module->problems.size(), 3u);
}

TEST(TextTest, ACutConstantIsZerosAndSaysSo) {
  std::vector<TextGraph> graphs = Read("%c = Const [1.0,2.0,...] : float[3,100]\n");
  ASSERT_EQ(graphs[0].module->problems.size(), 1u);
  EXPECT_EQ(graphs[0].module->problems[0].severity, Severity::kWarning);
  EXPECT_EQ(graphs[0].module->problems[0].ToString(),
            "1:12: node 'c': its value is cut short ('...'): zeros replace it");
  auto literal = Literal::FromConst(graphs[0].module->main.Find("c"));
  ASSERT_TRUE(static_cast<bool>(literal));
  EXPECT_TRUE(literal->AllEqualTo(0));
  EXPECT_EQ(literal->num_elements(), 300);
}

TEST(TextTest, IsKnownByItsBeginning) {
  EXPECT_TRUE(LooksLikeGraphText("# a comment\n\n%x = NoOp"));
  EXPECT_TRUE(LooksLikeGraphText("func @f() -> () {"));
  EXPECT_TRUE(LooksLikeGraphText("producer 12\n"));
  EXPECT_TRUE(LooksLikeGraphText("--- title\n"));
  EXPECT_FALSE(LooksLikeGraphText("node { name: \"x\" }"));
  EXPECT_FALSE(LooksLikeGraphText("versions { producer: 1 }"));
  EXPECT_FALSE(LooksLikeGraphText("library { }"));
  EXPECT_FALSE(LooksLikeGraphText("# only a comment\n"));
  EXPECT_FALSE(LooksLikeGraphText("\n%\n\x04node"));  // a GraphDef whose first node takes 37 bytes
  EXPECT_FALSE(LooksLikeGraphText(""));
}

}  // namespace
}  // namespace grapnel
