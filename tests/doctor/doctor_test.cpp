// The foundations of the checks of `doctor`: the flow of values through calls, the analysis of
// networks, and the statistics of tensors.
#include "lib/doctor/doctor.h"

#include <cmath>

#include "gtest/gtest.h"
#include "lib/doctor/cross_entropy.h"
#include "lib/doctor/numbers.h"
#include "lib/ir/find.h"
#include "lib/ir/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

GraphInFile Read(const std::string& text) {
  auto graphs = ReadGraphText(*FileBytes::FromString(text, "test"));
  for (const Problem& problem : graphs[0].module->problems) ADD_FAILURE() << problem.ToString();
  GraphInFile file;
  file.module = std::move(graphs[0].module);
  return file;
}

BodyPort At(const Module& module, llvm::StringRef name, int index = 0) {
  auto node = FindNode(module, name);
  if (node) return {*node, index};
  ADD_FAILURE() << TextOf(node.takeError());
  return {};
}

Network::Ends EndsOf(const Module& module, const std::vector<std::string>& feeds,
                     const std::vector<std::string>& fetches) {
  Network::Ends ends;
  for (const std::string& feed : feeds) ends.feeds.push_back(At(module, feed));
  for (const std::string& fetch : fetches) ends.fetches.push_back(At(module, fetch));
  return ends;
}

constexpr const char* kCalls = R"(
%x = Placeholder {dtype=float, shape=[2]}
%y = Placeholder {dtype=float, shape=[2]}
%on = Placeholder {dtype=bool, shape=[]}
%call = PartitionedCall(%x, %y) {f=@swap}
%branch = StatelessIf(%on, %x) {then_branch=@keep, else_branch=@keep}
%limit = Placeholder {dtype=int32, shape=[]}
%loop = StatelessWhile(%zero=0, %limit, %x) {cond=@cond, body=@body}
func @swap(%a: float, %b: float) -> (first: float, second: float) {
  %same = Identity(%a)
  return %b, %same
}
func @keep(%a: float) -> (r: float) {
  %r = Neg(%a)
  return %r
}
func @cond(%i: int32, %n: int32, %v: float) -> (r: bool) {
  %less = Less(%i, %n)
  return %less
}
func @body(%i: int32, %n: int32, %v: float) -> (i: int32, n: int32, v: float) {
  %next = AddV2(%i, 1)
  %double = Mul(%v, 2.0)
  return %next, %n, %double
}
)";

TEST(Flow, GoesThroughCalls) {
  GraphInFile file = Read(kCalls);
  Flow flow(*file.module);
  EXPECT_EQ(flow.Source(At(*file.module, "call", 0)), At(*file.module, "y"));
  EXPECT_EQ(flow.Source(At(*file.module, "call", 1)), At(*file.module, "x"));
  EXPECT_FALSE(flow.Backward({At(*file.module, "call", 0)}).Has(At(*file.module, "x")));
  PortSet after = flow.Forward({At(*file.module, "x")});
  EXPECT_TRUE(after.Has(At(*file.module, "call", 1)));
  EXPECT_FALSE(after.Has(At(*file.module, "call", 0)));
}

TEST(Flow, ABranchDependsOnItsCondition) {
  GraphInFile file = Read(kCalls);
  Flow flow(*file.module);
  PortSet before = flow.Backward({At(*file.module, "branch")});
  EXPECT_TRUE(before.Has(At(*file.module, "x")));
  EXPECT_TRUE(before.Has(At(*file.module, "on")));
}

// Values in a loop depend on the inputs of its condition, and on themselves.
TEST(Flow, ALoopDependsOnItsCondition) {
  GraphInFile file = Read(kCalls);
  Flow flow(*file.module);
  PortSet before = flow.Backward({At(*file.module, "loop", 2)});
  EXPECT_TRUE(before.Has(At(*file.module, "x")));
  EXPECT_TRUE(before.Has(At(*file.module, "limit")));
  EXPECT_TRUE(before.Has(At(*file.module, "body/double")));
  EXPECT_FALSE(before.Has(At(*file.module, "y")));
  EXPECT_TRUE(flow.Forward({At(*file.module, "x")}).Has(At(*file.module, "loop", 2)));
}

// For example a variable's handle, which each iteration gets.
TEST(Flow, WhatALoopLeavesAsItIsHasOneSource) {
  GraphInFile file = Read(kCalls);
  Flow flow(*file.module);
  EXPECT_EQ(flow.Source(At(*file.module, "body/n")), At(*file.module, "limit"));
  EXPECT_EQ(flow.Source(At(*file.module, "cond/n")), At(*file.module, "limit"));
  EXPECT_EQ(flow.Source(At(*file.module, "body/v")), At(*file.module, "body/v"));
  EXPECT_EQ(flow.Source(At(*file.module, "loop", 1)), At(*file.module, "limit"));
  EXPECT_EQ(flow.Source(At(*file.module, "loop", 2)), At(*file.module, "loop", 2));
}

TEST(Flow, ReadersAreFoundInsideOfCalls) {
  GraphInFile file = Read(kCalls);
  Flow flow(*file.module);
  std::vector<std::string> names;
  for (const auto& [reader, slot] : flow.Readers(At(*file.module, "x")))
    names.push_back(reader.name().str());
  llvm::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"double", "r", "same"}));
}

TEST(Flow, GradientsStopAtWhatHasNone) {
  GraphInFile file = Read(R"(
%x = Placeholder {dtype=float, shape=[2,3]}
%which = ArgMax(%x, 1)
%far = Cast(%which) {DstT=float}
%shape = Shape(%x)
%flat = Reshape(%x, %shape)
%half = Cast(%flat) {DstT=half}
%sum = Sum(%half, [0, 1])
)");
  Flow flow(*file.module);
  EXPECT_TRUE(flow.Backward({At(*file.module, "far")}).Has(At(*file.module, "x")));
  EXPECT_FALSE(flow.Backward({At(*file.module, "far")}, PassesGradient).Has(At(*file.module, "x")));
  PortSet gradient = flow.Backward({At(*file.module, "sum")}, PassesGradient);
  EXPECT_TRUE(gradient.Has(At(*file.module, "x")));
  EXPECT_FALSE(gradient.Has(At(*file.module, "shape")));
  EXPECT_FALSE(flow.Backward({At(*file.module, "shape")}, PassesValue).Has(At(*file.module, "x")));
}

constexpr const char* kTraining = R"(
%x = Placeholder {dtype=float, shape=[4,3]}
%labels = Placeholder {dtype=int32, shape=[4]}
%w = VarHandleOp {dtype=float, shape=[3,2], shared_name="kernel"}
%b = VarHandleOp {dtype=float, shape=[2], shared_name="bias"}
%wv = ReadVariableOp(%w) {dtype=float}
%bv = ReadVariableOp(%b) {dtype=float}
%product = MatMul(%x, %wv)
%logits = BiasAdd(%product, %bv)
%entropy = SparseSoftmaxCrossEntropyWithLogits(%logits, %labels)
%data = Mean(%entropy, [0])
%l2 = L2Loss(%wv)
%penalty = Mul(%l2, 0.01)
%loss = AddV2(%data, %penalty)
%hits = Cast(%equal) {DstT=float}
%top = ArgMax(%logits, 1) {output_type=int32}
%equal = Equal(%top, %labels)
%accuracy = Mean(%hits, [0])
%db = BiasAddGrad(%entropy:1)
%dw = MatMul(%x, %entropy:1) {transpose_a=true}
%scaled = Mul(%dw, 0.1)
%train_w = AssignSubVariableOp(%w, %scaled) {dtype=float}
%train_b = ResourceApplyGradientDescent(%b, 0.1, %db)
%step = Identity(%loss, ^train_w, ^train_b)
)";

TEST(Network, FindsLossLayersAndGradients) {
  GraphInFile file = Read(kTraining);
  const Module& module = *file.module;
  Network network(file, module, EndsOf(module, {"x", "labels"}, {"step", "accuracy"}));
  ASSERT_EQ(network.losses().size(), 1u);  // an accuracy has no gradient
  EXPECT_EQ(network.losses()[0], At(module, "loss"));
  EXPECT_TRUE(network.Trains());
  ASSERT_EQ(network.weighted_ops().size(),
            1u);  // the product that computes the gradient is not a layer
  EXPECT_EQ(network.weighted_ops()[0].node.name(), "product");
  ASSERT_EQ(network.variables().size(), 2u);
  const NetworkVariable &kernel = network.variables()[0], &bias = network.variables()[1];
  EXPECT_EQ(kernel.name, "kernel");
  EXPECT_TRUE(kernel.IsTrained() && kernel.is_weight && !kernel.is_bias);
  ASSERT_EQ(kernel.updates.size(), 1u);
  EXPECT_EQ(kernel.updates[0].gradient, At(module, "dw"));
  EXPECT_TRUE(bias.IsTrained() && bias.is_bias && !bias.is_weight);
  ASSERT_EQ(bias.updates.size(), 1u);
  EXPECT_EQ(bias.updates[0].gradient, At(module, "db"));
  EXPECT_TRUE(network.ReachesLoss(kernel));
  std::vector<BodyPort> terms = network.TermsOf(network.losses()[0]);
  EXPECT_EQ(terms, (std::vector<BodyPort>{At(module, "data"), At(module, "penalty")}));
  ASSERT_EQ(CrossEntropiesOf(network).size(), 1u);
}

// Without a fetch there is no training step and no loss.
TEST(Network, WhatIsNotFetchedIsNotThere) {
  GraphInFile file = Read(kTraining);
  Network network(file, *file.module, EndsOf(*file.module, {"x"}, {"logits"}));
  EXPECT_FALSE(network.Trains());
  EXPECT_FALSE(network.HasGradients());
  EXPECT_TRUE(network.losses().empty());
  EXPECT_EQ(network.weighted_ops().size(), 1u);
  EXPECT_FALSE(network.Runs(At(*file.module, "loss").node()));
}

TEST(Network, FindsTheCrossEntropyOfSigmoids) {
  GraphInFile file = Read(R"(
%x = Placeholder {dtype=float, shape=[4,1]}
%z = Placeholder {dtype=float, shape=[4,1]}
%zero = ZerosLike(%x)
%cond = GreaterEqual(%x, %zero)
%positive = Select(%cond, %x, %zero)
%minus = Neg(%x)
%small = Select(%cond, %minus, %x)
%product = Mul(%x, %z)
%rest = Sub(%positive, %product)
%exp = Exp(%small)
%log = Log1p(%exp)
%loss = Add(%rest, %log)
%other = Log1p(%z)
)");
  Network network(file, *file.module, EndsOf(*file.module, {"x", "z"}, {"loss", "other"}));
  std::vector<CrossEntropy> found = CrossEntropiesOf(network);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, CrossEntropy::kBinary);
  EXPECT_EQ(found[0].logits, At(*file.module, "x"));
  EXPECT_EQ(found[0].labels, At(*file.module, "z"));
}

Tensor Floats(std::vector<float> values, const std::vector<int64_t>& dims) {
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return *Tensor::FromLiteral(Literal::Make(proto::DT_FLOAT, dims, bytes));
}

TEST(Numbers, CountsWhatIsFinite) {
  NumberStatistics tally = StatisticsOf(Floats({0, 3, -1, NAN, INFINITY, 2}, {6}));
  EXPECT_EQ(tally.elements(), 6);
  EXPECT_EQ(tally.bad(), 2);
  EXPECT_EQ(tally.zero, 1);
  EXPECT_EQ(tally.min, -1);
  EXPECT_EQ(tally.max, 3);
  EXPECT_DOUBLE_EQ(tally.mean(), 1);
  EXPECT_DOUBLE_EQ(tally.norm(), std::sqrt(14.0));
  EXPECT_DOUBLE_EQ(tally.deviation(), std::sqrt(14.0 / 4 - 1));
  EXPECT_FALSE(tally.IsConstant());
  EXPECT_TRUE(StatisticsOf(Floats({2, 2, 2}, {3})).IsConstant());
  EXPECT_FALSE(StatisticsOf(Floats({}, {0})).IsConstant());
  EXPECT_FALSE(StatisticsOf(Floats({NAN, NAN}, {2})).IsConstant());
}

TEST(Numbers, DistanceOfWhatDoesNotFitIsInfinite) {
  EXPECT_DOUBLE_EQ(DistanceOf(Floats({1, 5}, {2}), Floats({4, 1}, {2})), 5);
  EXPECT_TRUE(std::isinf(DistanceOf(Floats({1, 5}, {2}), Floats({1, 5}, {1, 2}))));
}

TEST(VariableHistory, BecomingNanIsAChange) {
  VariableHistory history;
  AddMoment(Floats({1, 2}, {2}), &history);
  AddMoment(Floats({1, 2}, {2}), &history);
  EXPECT_FALSE(history.Changed());
  AddMoment(Floats({1, NAN}, {2}), &history);
  EXPECT_TRUE(history.Changed());
}

// Returns what a check finds in a network without histories of variables: "w: the gradient ...".
// Each tensor that the check watches is `seen`.
std::vector<std::string> FindingsOf(llvm::StringRef name, const Network& network,
                                    const Tensor& seen = {}) {
  std::vector<const CheckInfo*> checks = Checks();
  auto info = llvm::find_if(checks, [&](const CheckInfo* each) { return each->name == name; });
  std::unique_ptr<Check> check = (*info)->make();
  DoctorContext context;
  context.network = &network;
  TensorWatches watches;
  check->Watch(context, watches);
  for (const TensorWatches::Entry& entry : watches.entries()) entry.see(0, seen);
  check->Run(context);
  std::vector<std::string> texts;
  for (const Finding& finding : check->findings)
    texts.push_back(finding.node + ": " + finding.what);
  return texts;
}

TEST(Checks, ExplodingGradientWithoutTheVariablesNorm) {
  GraphInFile file = Read(kTraining);
  Network network(file, *file.module, EndsOf(*file.module, {"x", "labels"}, {"step"}));
  EXPECT_EQ(FindingsOf("exploding_gradient", network, Floats({3e6, 4e6}, {2})),
            std::vector<std::string>{
                "kernel: the gradient of this variable, which 'dw' computes, reaches a norm "
                "of 5e+06; that of 1 other too"});
}

// The op that stops the gradient is searched for 16 variables; the finding of others says so.
TEST(Checks, LossNotConnectedOfManyVariables) {
  std::string text = "%x = Placeholder {dtype=float, shape=[4,3]}\n", list;
  for (int i = 0; i < 18; ++i) {
    text += llvm::formatv(R"(%w{0} = VarHandleOp {{dtype=float, shape=[3,2], shared_name="w{0}"}
%v{0} = ReadVariableOp(%w{0}) {{dtype=float}
%product{0} = MatMul(%x, %v{0})
%top{0} = ArgMax(%product{0}, 1)
%float{0} = Cast(%top{0}) {{DstT=float}
)",
                          i)
                .str();
    list += (i > 0 ? ", %float" : "%float") + std::to_string(i);
  }
  text += "%sum = AddN(" + list + ")\n%loss = Mean(%sum, [0])\n";
  GraphInFile file = Read(text);
  Network::Ends ends = EndsOf(*file.module, {"x"}, {"loss"});
  ends.losses = {At(*file.module, "loss")};
  std::vector<std::string> found =
      FindingsOf("loss_not_connected", Network(file, *file.module, ends));
  ASSERT_EQ(found.size(), 17u);
  EXPECT_EQ(found[15],
            "w15: no gradient of 'loss' reaches this variable: 'top15' (ArgMax), which has no "
            "gradient, is in between");
  EXPECT_EQ(found[16],
            "w16: no gradient of 'loss' reaches this variable and 1 other; the op that stops it "
            "was not searched for");
}

// Each check has its own name, in order, and says what it looks for and needs.
TEST(Checks, AreSorted) {
  std::vector<const CheckInfo*> checks = Checks();
  EXPECT_GE(checks.size(), 24u);
  for (size_t i = 0; i < checks.size(); ++i) {
    EXPECT_FALSE(checks[i]->needs.empty());
    if (i > 0) EXPECT_LT(std::string(checks[i - 1]->name), checks[i]->name);
  }
}

}  // namespace
}  // namespace grapnel
