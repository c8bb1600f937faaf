// Variables: names, order and graphs as in tf.function, also inside functions, gradients, errors.
#include "lib/trace/variable.h"

#include "lib/exec/session.h"
#include "lib/trace/eager.h"
#include "lib/trace/function.h"
#include "lib/trace/ops.h"
#include "lib/trace/optimizers.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

const Literal kFour = initial::Fill({2, 2}, 4);

// The graph that TensorFlow 2.21 makes of the same Python (tests/python/training_test.py
// regenerates it).
TEST(Variable, ReadsAndWritesAreNamedAndOrderedAsTensorFlows) {
  auto module = Traced(Trace("f", {{"x", proto::DT_FLOAT, {2, 2}}}, [](Tracer& t, Value x) {
    CaptureVariables(t);
    Variable w(t, "w", kFour);
    Variable b(t, "b", std::vector<float>{1, 2});
    Value y = MatMul(x, w) + b;
    Value z = w.Read();
    w.AssignAdd(kFour);
    w.Assign(w * 2.0f);
    w.AssignSub(y);
    w.Gather({0, 1});
    w.ScatterAdd({1}, initial::Ones({1, 2}));
    return Values{y + z, Value(w)};
  }));
  ASSERT_TRUE(module);
  const Graph& main = module->main;
  EXPECT_EQ(LineOf(main, "MatMul/ReadVariableOp"),
            "MatMul/ReadVariableOp = ReadVariableOp(MatMul/ReadVariableOp/resource)");
  EXPECT_EQ(LineOf(main, "MatMul"), "MatMul = MatMul(x, MatMul/ReadVariableOp)");
  EXPECT_EQ(LineOf(main, "add"), "add = AddV2(MatMul, add/ReadVariableOp)");
  EXPECT_EQ(LineOf(main, "Read/ReadVariableOp"),
            "Read/ReadVariableOp = ReadVariableOp(MatMul/ReadVariableOp/resource)");
  EXPECT_EQ(LineOf(main, "AssignAddVariableOp"),
            "AssignAddVariableOp = AssignAddVariableOp(MatMul/ReadVariableOp/resource, Const, "
            "^MatMul/ReadVariableOp, ^Read/ReadVariableOp)");
  EXPECT_EQ(LineOf(main, "ReadVariableOp"),
            "ReadVariableOp = ReadVariableOp(MatMul/ReadVariableOp/resource, "
            "^AssignAddVariableOp)");
  EXPECT_EQ(LineOf(main, "AssignSubVariableOp"),
            "AssignSubVariableOp = AssignSubVariableOp(MatMul/ReadVariableOp/resource, add, "
            "^AssignVariableOp)");
  EXPECT_EQ(LineOf(main, "ResourceScatterAdd").substr(0, 47),
            "ResourceScatterAdd = ResourceScatterAdd(MatMul/");
  EXPECT_EQ(AttrText(main, "AssignVariableOp", "validate_shape"), "true");
  EXPECT_EQ(AttrText(main, "MatMul/ReadVariableOp/resource", "_user_specified_name"),
            "\"resource\"");
}

TEST(Variable, IsAHandleOfTheMainGraphAndCapturedInFunctions) {
  auto module = Traced(Trace("f", {{"n", proto::DT_INT32, {}}}, [](Tracer& t, Value n) {
    auto scope = t.Scope("layer");
    Variable total(t, "total", initial::Zeros({3}));
    t.If(
        n > 0, [&] { total.AssignAdd(initial::Ones({3})); },
        [&] { total.AssignSub(initial::Ones({3})); });
    auto more = [&](Value i) { return i < n; };
    auto step = [&](Value i) {
      total.AssignAdd(total * 2.0f);
      return i + 1;
    };
    t.While(more, step, {0});
    return ReduceSum(total);
  }));
  ASSERT_TRUE(module);
  EXPECT_EQ(AttrText(module->main, "layer/total", "shared_name"), "\"layer/total\"");
  EXPECT_EQ(AttrText(module->main, "layer/total", "shape"), "[3]");
  // The loop runs after the branch, and the read after the loop.
  EXPECT_NE(LineOf(module->main, "layer/while").find("^layer/cond"), std::string::npos)
      << LineOf(module->main, "layer/while");
  EXPECT_NE(LineOf(module->main, "layer/Sum/ReadVariableOp").find("^layer/while"),
            std::string::npos)
      << LineOf(module->main, "layer/Sum/ReadVariableOp");
  // Inside the body, the read value has its shape too.
  bool found = false;
  for (const auto& function : module->functions) {
    for (Node node : function->body.nodes()) found |= node.op() == "AssignAddVariableOp";
  }
  EXPECT_TRUE(found);
}

TEST(Variable, GradientsAreByHandlesAndSlicesStaySlices) {
  auto module = Traced(Trace("f", {{"ids", proto::DT_INT32, {2}}}, [](Tracer& t, Value ids) {
    Variable table(t, "table", initial::Ones({5, 3})), b(t, "b", initial::Ones({3}));
    Value loss = ReduceSum(table.Gather(ids) * b);
    std::vector<Gradient> slices = SparseGradients(t, {loss}, std::vector<Variable>{table, b});
    EXPECT_TRUE(slices[0].is_slices());
    EXPECT_FALSE(slices[1].is_slices());
    Values dense = Gradients(t, {loss}, {table, b});
    EXPECT_EQ(dense[0].shape().ToString(), "[5,3]");
    Tape tape(t);
    Value y = ReduceSum(b * 2.0f);
    Value of_tape = tape.Gradient(y, b.handle());
    EXPECT_TRUE(of_tape.ok());
    return Values{dense[0], dense[1], of_tape};
  }));
  EXPECT_TRUE(module);
}

TEST(Variable, AnAssignOfAnotherShapeOrDtypeNamesBothSides) {
  std::string errors = ErrorsOf(Trace("f", {{"x", proto::DT_DOUBLE, {2}}}, [](Tracer& t, Value x) {
    Variable w(t, "w", initial::Zeros({2}));
    w.Assign(x);
    w.AssignAdd(initial::Zeros({3}));
    w.ScatterAdd({0}, x);
    return x;
  }));
  EXPECT_NE(errors.find("op 'AssignVariableOp': variable 'w' is float[2] ("), std::string::npos)
      << errors;
  EXPECT_NE(errors.find("the value given is double[2]"), std::string::npos) << errors;
  EXPECT_NE(errors.find("the value given is float[3]"), std::string::npos) << errors;
  EXPECT_NE(errors.find("the updates are double"), std::string::npos) << errors;
}

TEST(Variable, OfAnotherTraceIsRefused) {
  Tracer other;
  Variable w(other, "w", initial::Zeros({2}));
  std::string errors = ErrorsOf(Trace("f", {{"x", proto::DT_FLOAT, {2}}}, [&](Tracer& t, Value x) {
    Value read = w.Read();
    return t.Op("Add", {x, read});
  }));
  EXPECT_NE(errors.find("belongs to another Tracer"), std::string::npos) << errors;
}

TEST(Variable, TwoOfOneNameAndAValueToBeginWithAreRefused) {
  std::string errors = ErrorsOf(Trace("f", {{"x", proto::DT_FLOAT, {2}}}, [](Tracer& t, Value x) {
    Variable a(t, "a", initial::Zeros({2}));
    Variable again(t, "a", initial::Zeros({2}));
    Variable of_value(t, "b", x);
    Variable of_shape(t, "c", initial::Zeros({2}), {.shape = Shape({3})});
    EXPECT_FALSE(again.ok() || of_value.ok() || of_shape.ok());
    return again + x;
  }));
  EXPECT_NE(errors.find("variable 'a': another variable already has that name"), std::string::npos)
      << errors;
  EXPECT_NE(errors.find("variable 'b': its initial value is computed in the graph"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("variable 'c': its shape is [3], its initial value is float[2]"),
            std::string::npos)
      << errors;
}

TEST(Optimizer, WhatCannotBeTrainedIsSaid) {
  std::string errors = ErrorsOf(Trace("f", {{"x", proto::DT_FLOAT, {2}}}, [](Tracer& t, Value x) {
    Variable w(t, "w", initial::Zeros({2}));
    Sgd sgd(t);
    sgd.Minimize(ReduceSum(x), {w});
    return x;
  }));
  EXPECT_NE(errors.find("optimizer 'sgd': the loss 'Sum:0' depends on none of the variables"),
            std::string::npos)
      << errors;
}

TEST(Optimizer, SlotsAreVariablesNamedAsKerass) {
  Tracer t;
  Variable w(t, "dense/kernel", initial::Zeros({2, 3}));
  Adam adam(t, {.amsgrad = true});
  adam.Minimize(ReduceSum(w * w), {w});
  std::vector<std::string> names;
  for (const Variable& variable : VariablesOf(t)) names.push_back(variable.name());
  EXPECT_EQ(names, (std::vector<std::string>{
                       "dense/kernel", "adam/iteration", "adam/dense_kernel_momentum",
                       "adam/dense_kernel_velocity", "adam/dense_kernel_velocity_hat"}));
  EXPECT_EQ(Trainable(t).size(), 1u);
  EXPECT_TRUE(Traced(t.Finish()));
}

// A training step, as an eager program and as a function: declares its variables each time.
Value TrainingStep(Tracer& t, const Value& x) {
  Variable w(t, "w", std::vector<float>{1, 2, 3});
  Tape tape(t);
  Value loss = ReduceSum(Square(w - x));
  Value gradient = tape.Gradient(loss, w.handle());
  Adam adam(t, {.learning_rate = 0.1});
  adam.Apply({gradient}, {w});
  return loss;
}

std::vector<float> LossesOf(llvm::function_ref<Expected<std::vector<Tensor>>(Tensor)> step) {
  std::vector<float> losses;
  for (int i = 0; i < 4; ++i) {
    auto x = Tensor::FromLiteral(initial::Ones({3}));
    EXPECT_TRUE(static_cast<bool>(x));
    auto results = step(*x);
    if (!results) {
      ADD_FAILURE() << TextOf(results.takeError());
      return {};
    }
    losses.push_back(*results->front().data<float>());
  }
  return losses;
}

TEST(Variable, EagerStepsAreThoseOfATracedFunction) {
  Session session;
  EagerOptions options;
  options.session = &session;  // it keeps the variables from one Tracer to the next
  std::vector<float> apart = LossesOf([&](Tensor x) -> Expected<std::vector<Tensor>> {
    Tracer t(options);
    Value loss = TrainingStep(t, FromTensor(t, std::move(x)));
    RETURN_IF_ERROR(t.TakeErrors());
    ASSIGN_OR_RETURN(Tensor tensor, loss.tensor());
    return std::vector<Tensor>{tensor};
  });
  Tracer one(Mode::kEager);
  std::vector<float> together = LossesOf([&](Tensor x) -> Expected<std::vector<Tensor>> {
    Value loss = TrainingStep(one, FromTensor(one, std::move(x)));
    RETURN_IF_ERROR(one.TakeErrors());
    ASSIGN_OR_RETURN(Tensor tensor, loss.tensor());
    return std::vector<Tensor>{tensor};
  });
  PolymorphicFunction function("step", [](Tracer& t, Value x) { return TrainingStep(t, x); });
  std::vector<float> traced = LossesOf([&](Tensor x) { return function.Run({std::move(x)}); });
  EXPECT_EQ(function.num_traces(), 1);
  ASSERT_EQ(apart.size(), 4u);
  EXPECT_EQ(apart[0], 5.0f);
  EXPECT_LT(apart[3], 4.0f);
  EXPECT_EQ(together, apart);
  EXPECT_EQ(traced, apart);
}

TEST(Variable, AnEagerOneOfAnotherTypeIsAnErrorThatNamesBoth) {
  Tracer t(Mode::kEager);
  Variable w(t, "w", std::vector<float>{1, 2});
  EXPECT_TRUE(w.ok());
  Variable other(t, "w", std::vector<float>{1, 2, 3});
  EXPECT_FALSE(other.ok());
  std::string errors = TextOf(t.TakeErrors());
  EXPECT_NE(errors.find("variable 'w': it is float[3] here, and float[2] at "), std::string::npos)
      << errors;
  w.Assign(std::vector<float>{1});
  errors = TextOf(t.TakeErrors());
  EXPECT_NE(errors.find("variable 'w' is float[2]"), std::string::npos) << errors;
}

}  // namespace
}  // namespace grapnel
