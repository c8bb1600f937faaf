// Programs of any size, each with a construct that could make a trace or a gradient slower than
// linear: for tests/trace/linear_test.cpp and tests/bench/trace_bench.cpp.
// tests/bench/trace_speed.py has the first two in Python.
#ifndef GRAPNEL_TESTS_TRACE_SIZED_PROGRAMS_H_
#define GRAPNEL_TESTS_TRACE_SIZED_PROGRAMS_H_

#include <string>
#include <vector>

#include "lib/trace/function.h"
#include "lib/trace/gradient.h"
#include "lib/trace/ops.h"
#include "lib/trace/variable.h"

namespace grapnel {

struct SizedProgram {
  const char* name;
  // Makes about `size` ops, and returns a float to differentiate with respect to `x`, a float[8,8].
  Value (*build)(Tracer& t, const Value& x, int64_t size);
  int64_t largest = 200'000;  // the largest size in tests
};

// The nodes of all bodies.
inline size_t NumNodes(const Module& module) {
  size_t count = module.main.num_nodes();
  for (const auto& function : module.functions) count += function->body.num_nodes();
  return count;
}

namespace sized {

// One deep chain in which every op reads x.
inline Value Chain(Tracer&, const Value& x, int64_t size) {
  Value y = x;
  for (int64_t i = 0; i < size; ++i) y = i % 2 == 0 ? y + x : y * x;
  return y;
}

// Dense layers: four ops each.
inline Value Layers(Tracer&, const Value& x, int64_t size) {
  Value y = x;
  for (int64_t i = 0; i < size / 4; ++i) y = Tanh(MatMul(y, x) + x) * y;
  return y;
}

// Constants of both kinds: numbers, and axes of reductions.
inline Value Constants(Tracer&, const Value& x, int64_t size) {
  Value y = x;
  for (int64_t i = 0; i < size / 5; ++i)
    y = y * static_cast<float>(i) + ReduceSum(y, 0, /*keep_dims=*/true);
  return y;
}

inline Value Scopes(Tracer& t, const Value& x, int64_t size) {
  Value y = x;
  for (int64_t i = 0; i < size / 3; ++i) {
    auto outer = t.Scope("layer");
    y = y + x;
    auto inner = t.Scope("inner");
    y = Tanh(y * x);
  }
  return y;
}

inline Value Controls(Tracer& t, const Value& x, int64_t size) {
  Value y = x;
  for (int64_t i = 0; i < size / 2; ++i) {
    auto after = t.ControlDependencies({Operation(y), Operation(x)});
    y = Tanh(y);
    y = y * x;
  }
  return y;
}

// An op that waits for all others, and others that wait for it.
inline Value WideControls(Tracer& t, const Value& x, int64_t size) {
  std::vector<Operation> before;
  for (int64_t i = 0; i < size / 2; ++i) before.push_back(Operation(Exp(x)));
  Operation all;
  {
    auto after = t.ControlDependencies(before);
    all = t.Op("NoOp", {});
  }
  auto after = t.ControlDependencies({all});
  Value y = x;
  for (int64_t i = 0; i < size / 2; ++i) y = Tanh(y);
  return y;
}

// One variable per ten ops, read and written in turns.
inline Value Variables(Tracer& t, const Value& x, int64_t size) {
  std::vector<Variable> all;
  for (int64_t i = 0; i < size / 10; ++i)
    all.emplace_back(t, "v" + std::to_string(i), initial::Ones({8, 8}));
  Value y = x;
  for (int round = 0; round < 2; ++round) {
    for (const Variable& v : all) {
      y = y * v;
      v.AssignSub(y);
    }
  }
  return y;
}

// Variables that are read first and used later.
inline Value ReadVariables(Tracer& t, const Value& x, int64_t size) {
  Values read;
  for (int64_t i = 0; i < size / 3; ++i)
    read.push_back(Variable(t, "v" + std::to_string(i), initial::Ones({8, 8})));
  Value y = x;
  for (const Value& value : read) y = y * value;
  return y;
}

inline Value Calls(Tracer& t, const Value& x, int64_t size) {
  PolymorphicFunction step("step", [](Tracer&, Value a, Value b) { return Tanh(a * b); });
  Value y = x;
  for (int64_t i = 0; i < size / 8; ++i) y = step(t, {y, x})[0];
  return y;
}

inline Value Branches(Tracer& t, const Value& x, int64_t size) {
  Value y = x;
  for (int64_t i = 0; i < size / 20; ++i) {
    Value is_on = ReduceSum(y) > 0.0f;
    y = t.If(
        is_on, [&] { return y * x; }, [&] { return y + x; });
  }
  return y;
}

inline Value Loops(Tracer& t, const Value& x, int64_t size) {
  Value y = x;
  for (int64_t i = 0; i < size / 30; ++i) {
    y = t.While([](Value n, Value) { return n < 3; },
                [&](Value n, Value v) {
                  return Values{n + 1, Tanh(v * x)};
                },
                {0, y})[1];
  }
  return y;
}

// One loop with a large body.
inline Value LargeBody(Tracer& t, const Value& x, int64_t size) {
  auto body = [&](Value n, Value v) { return Values{n + 1, Chain(t, v, size)}; };
  return t.While([](Value n, Value) { return n < 3; }, body, {0, x})[1];
}

// A branch with very many captures.
inline Value Captures(Tracer& t, const Value& x, int64_t size) {
  Values many;
  for (int64_t i = 0; i < size / 4; ++i) many.push_back(Exp(x));
  Value is_on = ReduceSum(x) > 0.0f;
  auto sum = [&] {
    Value y = x;
    for (const Value& one : many) y = y + one;
    return y;
  };
  return t.If(is_on, sum, [&] { return x; });
}

// One tensor that all ops read, and one op that reads all their results.
inline Value Wide(Tracer& t, const Value& x, int64_t size) {
  Values many;
  for (int64_t i = 0; i < size; ++i) many.push_back(Tanh(x));
  return t.Op("AddN", {many});
}

// Slices of one tensor, whose gradients are added up: repeated names.
inline Value Gathers(Tracer& t, const Value& x, int64_t size) {
  Values many;
  for (int64_t i = 0; i < size / 3; ++i)
    many.push_back(t.Op("GatherV2", {x, Operand({1, 2}), 0}, {}, "embedding"));
  return ReduceSum(t.Op("AddN", {many}));
}

// Tapes one after the other, each with its gradient.
inline Value Tapes(Tracer& t, const Value& x, int64_t size) {
  Value y = x;
  for (int64_t i = 0; i < size / 8; ++i) {
    Tape tape(t);
    tape.Watch(y);
    Value loss = Tanh(y * y);
    y = y - tape.Gradient(loss, y);
  }
  return y;
}

}  // namespace sized

inline const std::vector<SizedProgram>& SizedPrograms() {
  static const std::vector<SizedProgram> kPrograms = {
      {"chain", sized::Chain, 1'000'000},
      {"layers", sized::Layers, 1'000'000},
      {"constants", sized::Constants},
      {"scopes", sized::Scopes},
      {"controls", sized::Controls},
      {"wide_controls", sized::WideControls},
      {"variables", sized::Variables},
      {"read_variables", sized::ReadVariables},
      {"calls", sized::Calls},
      {"branches", sized::Branches},
      {"loops", sized::Loops},
      {"large_body", sized::LargeBody},
      {"captures", sized::Captures},
      {"wide", sized::Wide, 1'000'000},
      {"gathers", sized::Gathers},
      {"tapes", sized::Tapes},
  };
  return kPrograms;
}

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_TRACE_SIZED_PROGRAMS_H_
