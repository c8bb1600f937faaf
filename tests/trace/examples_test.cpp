// The examples make the graphs that TensorFlow made, and the guide shows their code.
#include "lib/trace/examples.h"

#include "google/protobuf/util/message_differencer.h"
#include "lib/ir/import.h"
#include "lib/support/file.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

const TraceExample& Example(llvm::StringRef name) {
  for (const TraceExample& example : TraceExamples()) {
    if (name == example.name) return example;
  }
  ADD_FAILURE() << "no example " << name.str();
  return TraceExamples()[0];
}

std::unique_ptr<Module> Read(const std::string& path) {
  auto file = FileBytes::Open(path);
  if (!file) {
    ADD_FAILURE() << TextOf(file.takeError());
    return nullptr;
  }
  return Traced(ImportGraphDef(*file, (*file)->bytes()));
}

std::string Bytes(const Module& module) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  ExportGraphDef(module, os);
  return os.str();
}

// Every attribute, constants by their value.
void ExpectSameAttrs(const Node& ours, const Node& theirs) {
  auto a = ours.Attrs(), b = theirs.Attrs();
  ASSERT_EQ(a.size(), b.size()) << NodeText(ours) << "\n" << NodeText(theirs);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].first, b[i].first);
    if (a[i].second.kind() == AttrKind::kFunc) continue;  // numbers depend on the process
    if (auto tensor = a[i].second.AsTensor()) {
      auto x = Literal::FromTensorProto(*tensor),
           y = Literal::FromTensorProto(b[i].second.AsTensor().value_or(""));
      ASSERT_TRUE(static_cast<bool>(x) && static_cast<bool>(y));
      EXPECT_TRUE(x->SameValue(*y))
          << ours.name().str() << ": " << x->ToString() << " and " << y->ToString();
      continue;
    }
    proto::AttrValue x, y;
    ASSERT_TRUE(x.ParseFromString(a[i].second.bytes().str()) &&
                y.ParseFromString(b[i].second.bytes().str()));
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(x, y))
        << ours.name().str() << " " << a[i].first.str();
  }
}

void ExpectSameGraph(const Graph& ours, const Graph& theirs) {
  ASSERT_EQ(Lines(ours), Lines(theirs));
  for (Node node : ours.nodes()) {
    if (node.op() != "_Retval" && node.op() != "_Arg")
      ExpectSameAttrs(node, theirs.Find(node.name()));
  }
}

// Nodes, order, inputs and attributes: all as in the graph that TensorFlow 2.21 made.
TEST(Examples, HarmonicMeanAsTensorFlow) {
  for (const char* name : {"harmonic_mean", "harmonic_mean_print"}) {
    auto ours = Traced(Example(name).trace());
    auto theirs = Read(std::string("testdata/") + name + "/graph.pb");
    ASSERT_TRUE(ours && theirs);
    ExpectSameGraph(ours->main, theirs->main);
    EXPECT_EQ(ours->versions, theirs->versions);
  }
}

// The same, and the functions that the nodes call, whatever their numbers.
void ExpectSameCalls(const Graph& ours, const Graph& theirs) {
  for (Node node : ours.nodes()) {
    for (const char* key : {"cond", "body", "then_branch", "else_branch"}) {
      auto a = node.FindAttr(key);
      if (!a || !a->AsFuncName()) continue;
      const Function* f = ours.module().FindFunction(*a->AsFuncName());
      const Function* g =
          theirs.module().FindFunction(*theirs.Find(node.name()).FindAttr(key)->AsFuncName());
      ASSERT_TRUE(f && g);
      SCOPED_TRACE(f->name().str());
      ASSERT_EQ(f->info.inputs.size(), g->info.inputs.size());
      for (size_t i = 0; i < f->info.inputs.size(); ++i) {
        EXPECT_EQ(f->info.inputs[i].name, g->info.inputs[i].name);
        EXPECT_EQ(f->info.inputs[i].type, g->info.inputs[i].type);
      }
      ASSERT_EQ(f->results.size(), g->results.size());
      for (size_t i = 0; i < f->results.size(); ++i) {
        EXPECT_EQ(f->results[i].name, g->results[i].name);
        EXPECT_EQ(PortText(f->body, f->body.node(f->results[i].node).input(0)),
                  PortText(g->body, g->body.node(g->results[i].node).input(0)));
      }
      ExpectSameGraph(f->body, g->body);
      ExpectSameCalls(f->body, g->body);
    }
  }
}

TEST(Examples, CollatzAsTensorFlow) {
  auto ours = Traced(Example("collatz").trace());
  auto theirs = Read("testdata/collatz/graph.pb");
  ASSERT_TRUE(ours && theirs);
  ExpectSameGraph(ours->main, theirs->main);
  ExpectSameCalls(ours->main, theirs->main);
  EXPECT_EQ(ours->functions.size(), theirs->functions.size());
  EXPECT_EQ(ours->versions, theirs->versions);
}

// Reading back gives the same graph, and two traces are the same bytes.
TEST(Examples, WriteAndReadBack) {
  for (const TraceExample& example : TraceExamples()) {
    auto module = Traced(example.trace()), again = Traced(example.trace());
    ASSERT_TRUE(module && again);
    std::string bytes = Bytes(*module);
    EXPECT_EQ(bytes, Bytes(*again)) << example.name;
    auto file = FileBytes::FromString(bytes, "memory");
    auto read = Traced(ImportGraphDef(file, file->bytes()));
    ASSERT_TRUE(read);
    EXPECT_TRUE(AllProblems(*read).empty())
        << example.name << ": " << AllProblems(*read)[0].ToString();
    ExpectSameGraph(module->main, read->main);
    ExpectSameCalls(module->main, read->main);
  }
}

// Each ```cpp block of the guide's part on traced functions is a verbatim part of examples.cpp.
TEST(Guide, ShowsCodeThatIsCompiled) {
  auto guide = FileBytes::Open("docs/guide/tracing.md"),
       code = FileBytes::Open("lib/trace/examples.cpp");
  ASSERT_TRUE(static_cast<bool>(guide) && static_cast<bool>(code));
  llvm::StringRef rest = (*guide)->bytes().split("\n## Eager mode").first;
  int blocks = 0;
  while (rest.contains("```cpp\n")) {
    llvm::StringRef block;
    std::tie(block, rest) = rest.split("```cpp\n").second.split("```");
    EXPECT_TRUE((*code)->bytes().contains(block)) << block.str();
    ++blocks;
  }
  EXPECT_EQ(blocks, 3);
}

}  // namespace
}  // namespace grapnel
