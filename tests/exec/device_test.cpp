// Plans that cross between the CPU and another device: a fake one, so that copies, declared host
// memory, streams and events are tested where there is no GPU.
#include "gtest/gtest.h"
#include "lib/exec/executor.h"
#include "lib/ir/attr.h"
#include "lib/trace/ops.h"
#include "lib/trace/trace.h"
#include "tests/exec/fake_device.h"

namespace grapnel {
namespace {

template <typename T>
Tensor Vec(DataType dtype, const std::vector<T>& values) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(dtype, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}
Tensor Floats(const std::vector<float>& values) { return Vec(proto::DT_FLOAT, values); }

template <typename T>
std::vector<T> Elements(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.num_elements()};
}

int times_looked = 0;

Expected<std::vector<std::unique_ptr<Device>>> FindFakes() {
  ++times_looked;
  std::vector<std::unique_ptr<Device>> found;
  found.reserve(2);
  for (int i = 0; i < 2; ++i) found.push_back(std::make_unique<FakeDevice>(i));
  return found;
}
GRAPNEL_DEVICE_KIND("FAKE", FindFakes);

Expected<std::vector<std::unique_ptr<Device>>> FindNothing() {
  return MakeError("no NONE here: not installed");
}
GRAPNEL_DEVICE_KIND("NONE", FindNothing);

FakeDevice& Fake() {
  return static_cast<FakeDevice&>(*llvm::cantFail(Devices::Get().Find("FAKE:0")));
}

void Launch(KernelContext& ctx, std::function<Error()> work) {
  ++static_cast<FakeDevice*>(ctx.device())->launches;
  static_cast<FakeStream*>(ctx.stream())->Queue(std::move(work));
}

template <float (*kFn)(float, float)>
Error RunBinary(KernelContext& ctx) {
  const Tensor &a = ctx.input(0), &b = ctx.input(1);
  bool forward = a.num_elements() >= b.num_elements();
  ASSIGN_OR_RETURN(Tensor * out,
                   ctx.ForwardOrAllocate(forward ? 0 : 1, 0, forward ? a.dims() : b.dims()));
  const void *left = a.device_data(), *right = b.device_data();
  void* to = out->device_data();
  int64_t n = out->num_elements(), left_n = a.num_elements(), right_n = b.num_elements();
  Launch(ctx, [=] {
    for (int64_t i = 0; i < n; ++i) {
      StoreFake(to, i, kFn(LoadFake<float>(left, i % left_n), LoadFake<float>(right, i % right_n)));
    }
    return Error::success();
  });
  return Error::success();
}
float Plus(float a, float b) { return a + b; }
float Times(float a, float b) { return a * b; }
Expected<KernelFn> MakeAdd(const KernelSetup& setup) {
  EXPECT_NE(setup.device(), nullptr);
  return KernelFn(RunBinary<Plus>);
}
Expected<KernelFn> MakeMul(const KernelSetup&) { return KernelFn(RunBinary<Times>); }

// The sum over all axes; `axes` is read in host memory.
Error RunSum(KernelContext& ctx) {
  if (ctx.input(1).device()) return MakeError("the axes are not in host memory");
  if (ctx.input(1).num_elements() != ctx.input(0).rank())
    return MakeError("all axes were expected");
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  const void* in = ctx.input(0).device_data();
  void* to = out->device_data();
  int64_t n = ctx.input(0).num_elements();
  Launch(ctx, [=] {
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += LoadFake<float>(in, i);
    StoreFake(to, 0, sum);
    return Error::success();
  });
  return Error::success();
}
Expected<KernelFn> MakeSum(const KernelSetup&) { return KernelFn(RunSum); }

Error RunShape(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {ctx.input(0).rank()}));
  for (int i = 0; i < ctx.input(0).rank(); ++i)
    out->data<int32_t>()[i] = static_cast<int32_t>(ctx.input(0).dim(i));
  return Error::success();
}
Expected<KernelFn> MakeShape(const KernelSetup&) { return KernelFn(RunShape); }

// Fails when its work runs, long after the kernel returned.
Error RunAtanh(KernelContext& ctx) {
  RETURN_IF_ERROR(ctx.Allocate(0, ctx.input(0).dims()).takeError());
  Launch(ctx, [] { return MakeError("the fake device broke"); });
  return Error::success();
}
Expected<KernelFn> MakeAtanh(const KernelSetup&) { return KernelFn(RunAtanh); }

Expected<KernelFn> RefuseRelu(const KernelSetup&) { return MakeError("not this one"); }

const std::vector<DataType> kFloat = {proto::DT_FLOAT};
GRAPNEL_KERNEL("AddV2", "FAKE", MakeAdd, OfTypes("T", kFloat), KernelCost::kCheap);
GRAPNEL_KERNEL("Mul", "FAKE", MakeMul, OfTypes("T", kFloat), KernelCost::kCheap);
GRAPNEL_KERNEL("Sum", "FAKE", MakeSum, OfTypes("T", kFloat), KernelCost::kCheap, HostInputs({1}));
GRAPNEL_KERNEL("Shape", "FAKE", MakeShape, KernelCost::kCheap, HostOutputs({-1}));
GRAPNEL_KERNEL("Atanh", "FAKE", MakeAtanh, OfTypes("T", kFloat), KernelCost::kCheap);
GRAPNEL_KERNEL("Relu", "FAKE", RefuseRelu, OfTypes("T", kFloat), KernelCost::kCheap);

struct Result {
  std::vector<std::vector<float>> values;
  PlanSpread spread;
  std::string error;
};

class Crossing : public testing::Test {
 protected:
  using Fn = llvm::function_ref<Value(Tracer&, Value)>;

  // Returns fn(x) for x = [1, 2, 3], `repeat` times; `change` may edit the graph first.
  Result Run(
      Fn fn, int repeat = 1, RunHook* hook = nullptr,
      llvm::function_ref<void(Module&)> change = [](Module&) {}) {
    module_ = llvm::cantFail(
        TraceFunction("f", {{"x", proto::DT_FLOAT, {3}}},
                      [&](Tracer& t, llvm::ArrayRef<Value> x) { return Values{fn(t, x[0])}; }));
    change(*module_);
    ExecutorOptions options;
    options.feeds = {"x"};
    options.fetches = {"Identity"};
    options.pool = &pool_;
    options.hook = hook;
    options.device = &Fake();
    Result result;
    auto executor = Executor::Compile(module_->main, options);
    if (!executor) {
      result.error = TextOf(executor.takeError());
      return result;
    }
    result.spread = (*executor)->spread();
    for (int i = 0; i < repeat; ++i) {
      if (i == 1) allocated_ = Fake().allocations;
      auto outputs = (*executor)->Run({Floats({1, 2, 3})});
      if (!outputs) {
        result.error = TextOf(outputs.takeError());
        return result;
      }
      EXPECT_EQ((*outputs)[0].device(), nullptr);
      result.values.push_back(Elements<float>((*outputs)[0]));
    }
    return result;
  }

  // The device memory that was allocated after the first run.
  int AllocatedLater() const { return Fake().allocations - allocated_; }

  ThreadPool pool_{2};
  std::unique_ptr<Module> module_;
  int allocated_ = 0;
};

using Floats1 = std::vector<float>;

TEST_F(Crossing, ValuesAreCopiedWhereTheyCross) {
  Result result = Run([](Tracer&, Value x) { return Square(x + 1.0f) * 2.0f; }, 3);
  ASSERT_EQ(result.error, "");
  for (const Floats1& values : result.values) EXPECT_EQ(values, (Floats1{8, 18, 32}));
  EXPECT_EQ(result.spread.on_device, 2);  // AddV2, Mul
  EXPECT_EQ(result.spread.on_host, 1);    // Square
  EXPECT_EQ(result.spread.copies, 4);     // x there, sum back, square there, product back
  EXPECT_EQ(result.spread.constant_bytes, 8);
  EXPECT_EQ(AllocatedLater(), 0);
}

TEST_F(Crossing, OneCopyServesAllReaders) {
  Result result = Run([](Tracer&, Value x) { return (x + x) * x; });
  EXPECT_EQ(result.values, (std::vector<Floats1>{{2, 8, 18}}));
  EXPECT_EQ(result.spread.copies, 2);
}

TEST_F(Crossing, DeclaredHostMemoryIsNotCopied) {
  Result result = Run([](Tracer& t, Value x) {
    Value sum = ReduceSum(x + 1.0f);            // axes: a constant in host memory
    Value shape = t.Op("Shape", {x + 2.0f});    // an output in host memory
    Value size = Cast(shape, proto::DT_FLOAT);  // of the CPU
    return sum + ReduceSum(size);
  });
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.values, (std::vector<Floats1>{{12}}));
  EXPECT_EQ(result.spread.copies, 3);  // x, size, the result
}

TEST_F(Crossing, NodesStayOnTheCpuThatNameItOrThatTheKernelRefuses) {
  Result result = Run([](Tracer&, Value x) { return Relu(x + 1.0f); }, 1, nullptr,
                      [](Module& m) {
                        m.main.SetDevice(m.main.Find("add").id(),
                                         "/job:localhost/replica:0/task:0/device:CPU:0");
                      });
  EXPECT_EQ(result.values, (std::vector<Floats1>{{2, 3, 4}}));
  EXPECT_EQ(result.spread.on_device, 0);
  EXPECT_EQ(result.spread.copies, 0);
  result = Run([](Tracer&, Value x) { return x + 1.0f; }, 1, nullptr,
               [](Module& m) { m.main.SetDevice(m.main.Find("add").id(), "/fake:1"); });
  EXPECT_EQ(result.spread.on_device, 0);
  result = Run([](Tracer&, Value x) { return x + 1.0f; }, 1, nullptr,
               [](Module& m) { m.main.SetDevice(m.main.Find("add").id(), "/device:FAKE:0"); });
  EXPECT_EQ(result.spread.on_device, 1);
}

TEST_F(Crossing, OtherDtypesRunOnTheCpu) {
  Result result =
      Run([](Tracer&, Value x) { return Cast(Cast(x, proto::DT_DOUBLE) + 1.0, proto::DT_FLOAT); });
  EXPECT_EQ(result.values, (std::vector<Floats1>{{2, 3, 4}}));
  EXPECT_EQ(result.spread.on_device, 0);
}

TEST_F(Crossing, WhatDependsOnConstantsAloneIsComputedOnceAndCopiedOnce) {
  Result result = Run([](Tracer& t, Value x) {
    Value two = t.Constant(1.0f) + 1.0f;
    return x * two;
  });
  EXPECT_EQ(result.values, (std::vector<Floats1>{{2, 4, 6}}));
  EXPECT_EQ(result.spread.on_device, 1);
  EXPECT_EQ(result.spread.constant_bytes, 4);
}

TEST_F(Crossing, TheBodyOfAFunctionRunsThere) {
  int before = Fake().launches;
  Result result = Run([](Tracer& t, Value x) {
    Value is_large = ReduceSum(x) > 1.0f;
    return t.If(
        is_large, [&] { return x * 3.0f; }, [&] { return x + 1.0f; });
  });
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.values, (std::vector<Floats1>{{3, 6, 9}}));
  EXPECT_EQ(Fake().launches - before, 2);  // Sum and the branch's Mul
}

TEST_F(Crossing, AGraphWithSwitchRunsOnTheCpuAndSaysSo) {
  auto module = std::make_unique<Module>();
  auto outputs = [&] {
    Graph& graph = module->main;
    auto add = [&](const char* name, const char* op, llvm::ArrayRef<Port> inputs,
                   const char* type) {
      NodeId id = graph.AddNode(name, op);
      graph.SetAttr(id, type, module->Keep(attr::Type(proto::DT_FLOAT)));
      for (Port port : inputs) graph.AddInput(id, port);
      return id;
    };
    NodeId x = add("x", "Placeholder", {}, "dtype");
    NodeId go = graph.AddNode("go", "Placeholder");
    graph.SetAttr(go, "dtype", module->Keep(attr::Type(proto::DT_BOOL)));
    NodeId choice = add("choice", "Switch", {{x, 0}, {go, 0}}, "T");
    add("sum", "AddV2", {{choice, 1}, {choice, 1}}, "T");
    ExecutorOptions options;
    options.feeds = {"x", "go"};
    options.fetches = {"sum"};
    options.pool = &pool_;
    options.device = &Fake();
    auto executor = llvm::cantFail(Executor::Compile(graph, options));
    EXPECT_NE(executor->spread().note.find("runs on the CPU"), std::string::npos);
    Tensor yes = Vec<uint8_t>(proto::DT_BOOL, {1});
    return llvm::cantFail(executor->Run({Floats({1, 2, 3}), yes.Reshaped({})}));
  }();
  EXPECT_EQ(Elements<float>(outputs[0]), (Floats1{2, 4, 6}));
}

TEST_F(Crossing, WorkThatFailsLaterFailsTheRun) {
  Result result = Run([](Tracer& t, Value x) -> Value { return t.Op("Atanh", {x}); });
  EXPECT_NE(result.error.find("the fake device broke"), std::string::npos) << result.error;
}

class Recorder : public RunHook {
 public:
  explicit Recorder(bool takes) : takes_(takes) {}
  bool Wants(const Node& node) override { return node.op() == "AddV2"; }
  Error BeforeNode(const Node&, llvm::ArrayRef<Tensor> inputs) override {
    before = Elements<float>(inputs[0]);
    return Error::success();
  }
  Error AfterNode(const Node&, llvm::ArrayRef<Tensor> outputs) override {
    after = Elements<float>(outputs[0]);
    return Error::success();
  }
  bool TakesDeviceTensors() const override { return takes_; }
  Error AfterNodeOn(Stream& stream, const Node&, llvm::ArrayRef<Tensor> outputs) override {
    EXPECT_EQ(outputs[0].device(), &Fake());
    Tensor copy = llvm::cantFail(CopyTensor(outputs[0], nullptr, stream, HeapAllocator()));
    if (Error error = stream.Wait()) return error;
    on_device = Elements<float>(copy);
    return Error::success();
  }
  Floats1 before, after, on_device;

 private:
  bool takes_;
};

TEST_F(Crossing, HooksGetHostCopiesUnlessTheyTakeTheDevices) {
  Recorder plain(false), able(true);
  Run([](Tracer&, Value x) { return x + 1.0f; }, 1, &plain);
  EXPECT_EQ(plain.before, (Floats1{1, 2, 3}));
  EXPECT_EQ(plain.after, (Floats1{2, 3, 4}));
  Run([](Tracer&, Value x) { return x + 1.0f; }, 1, &able);
  EXPECT_EQ(able.after, Floats1());
  EXPECT_EQ(able.on_device, (Floats1{2, 3, 4}));
}

TEST_F(Crossing, NothingOfTheDeviceIsLeft) {
  int before = Fake().living;
  Run([](Tracer&, Value x) { return Square(x + 1.0f) * 2.0f; }, 2);
  EXPECT_EQ(Fake().living, before);
}

TEST(Device, CopiesRoundTripAndRefuseWhatLivesInTheProcess) {
  auto stream = llvm::cantFail(Fake().NewStream());
  Tensor there = llvm::cantFail(
      CopyTensor(Vec<int32_t>(proto::DT_INT32, {7, 8}), &Fake(), *stream, Fake().allocator()));
  EXPECT_EQ(there.device(), &Fake());
  Tensor inside = llvm::cantFail(CopyTensor(there, &Fake(), *stream, Fake().allocator()));
  Tensor back = llvm::cantFail(CopyTensor(inside, nullptr, *stream, HeapAllocator()));
  EXPECT_FALSE(stream->Wait());
  EXPECT_EQ(Elements<int32_t>(back), (std::vector<int32_t>{7, 8}));
  auto strings =
      CopyTensor(Vec<std::string>(proto::DT_STRING, {"a"}), &Fake(), *stream, Fake().allocator());
  EXPECT_NE(TextOf(strings.takeError()).find("string"), std::string::npos);
}

TEST(Device, OneStreamWaitsForAnother) {
  auto first = llvm::cantFail(Fake().NewStream()), second = llvm::cantFail(Fake().NewStream());
  std::string order;
  auto queue = [&](Stream& stream, char letter) {
    static_cast<FakeStream&>(stream).Queue([&order, letter] {
      order += letter;
      return Error::success();
    });
  };
  queue(*first, 'a');
  auto event = llvm::cantFail(Fake().NewEvent());
  EXPECT_FALSE(event->Record(*first));
  queue(*first, 'z');
  EXPECT_FALSE(event->MakeWait(*second));
  queue(*second, 'b');
  EXPECT_EQ(order, "");
  EXPECT_FALSE(second->Wait());
  EXPECT_EQ(order, "ab");
  EXPECT_FALSE(first->Wait());
  EXPECT_EQ(order, "abz");
}

TEST(Device, TheCpuIsOne) {
  Device& cpu = CpuDevice();
  EXPECT_EQ(cpu.name(), "/device:CPU:0");
  EXPECT_TRUE(IsHost(&cpu) && IsHost(nullptr) && !IsHost(&Fake()));
  auto stream = llvm::cantFail(cpu.NewStream());
  Tensor copy = llvm::cantFail(CopyTensor(Floats({1, 2}), &cpu, *stream, cpu.allocator()));
  EXPECT_EQ(copy.device(), nullptr);
  EXPECT_EQ(Elements<float>(copy), (Floats1{1, 2}));
}

TEST(Devices, AreFoundOnceByAnyOfTheirNames) {
  EXPECT_EQ(llvm::cantFail(Devices::Get().Find("FAKE")), &Fake());
  EXPECT_EQ(llvm::cantFail(Devices::Get().Find("/job:a/replica:0/task:0/device:fake:1"))->name(),
            "/device:FAKE:1");
  EXPECT_EQ(times_looked, 1);
  EXPECT_EQ(llvm::cantFail(Devices::Get().Find("/cpu:0")), &CpuDevice());
  auto text = [](llvm::StringRef name) { return TextOf(Devices::Get().Find(name).takeError()); };
  EXPECT_EQ(text("FAKE:7"), "there is no device 'FAKE:7': of kind FAKE there are 2");
  EXPECT_EQ(text("NONE"), "no NONE here: not installed");
  EXPECT_EQ(text("/job:a"), "'/job:a' names no type of device: CPU, GPU or GPU:1 was expected");
  EXPECT_EQ(text("FAKES:0").find("kind of device 'FAKES' not found; did you mean 'FAKE'?"), 0);
}

}  // namespace
}  // namespace grapnel
