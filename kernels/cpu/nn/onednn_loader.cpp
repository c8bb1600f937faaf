// Opening grapnel_onednn.so, and lending it the pool's threads.
#include "kernels/cpu/nn/onednn_loader.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "lib/support/program_file.h"

namespace grapnel {
namespace {

std::atomic<int> switched_off{0};

// oneDNN's threads may wait for one another. The pool runs a loop in one piece when it is busy with
// another one; then the team gets threads of its own, which is slow, rare and right.
void RunTeam(void* pool, int32_t n, void (*body)(void*, int32_t), void* arg) {
  constexpr double kWorthSplitting = 1e9;
  static_cast<ThreadPool*>(pool)->ParallelFor(n, kWorthSplitting, [&](int64_t begin, int64_t end) {
    std::vector<std::thread> others;
    for (int64_t i = begin + 1; i < end; ++i)
      others.emplace_back(body, arg, static_cast<int32_t>(i));
    body(arg, static_cast<int32_t>(begin));
    for (std::thread& other : others) other.join();
  });
}

constexpr GrapnelOnednnHost kHost = {GRAPNEL_ONEDNN_API_VERSION, RunTeam};

struct Loaded {
  const GrapnelOnednnApi* api = nullptr;
  std::string problem;
};

Loaded Load() {
  const char* wish = std::getenv("GRAPNEL_ONEDNN");
  if (wish && llvm::StringRef(wish) == "off") return {nullptr, "GRAPNEL_ONEDNN is 'off'"};
  std::string path = wish && *wish ? wish : ModulePath("grapnel_onednn.so");
  // Never closed: primitives and their code live until the process ends.
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) return {nullptr, dlerror()};
  auto entry = reinterpret_cast<GrapnelOnednnEntryFn>(dlsym(module, GRAPNEL_ONEDNN_ENTRY));
  if (!entry) return {nullptr, path + ": not grapnel's oneDNN module"};
  const GrapnelOnednnApi* api = entry(&kHost);
  if (!api || api->version != GRAPNEL_ONEDNN_API_VERSION) {
    return {nullptr, path + ": of another version of grapnel"};
  }
  return {api, ""};
}

std::atomic<bool> asked{false};

const Loaded& TheModule() {
  static const Loaded loaded = Load();
  asked.store(true, std::memory_order_release);
  return loaded;
}

template <typename Call>
Error Checked(const char* what, Call&& call) {
  char error[256] = "";
  if (call(error, static_cast<int32_t>(sizeof error)) == 0) return Error::success();
  return MakeError("{0}: {1}", what, error);
}

}  // namespace

const GrapnelOnednnApi* Onednn() {
  return switched_off.load(std::memory_order_relaxed) > 0 ? nullptr : TheModule().api;
}

std::string WhyNoOnednn() {
  return asked.load(std::memory_order_acquire) ? TheModule().problem : "";
}

WithoutOnednn::WithoutOnednn() { ++switched_off; }
WithoutOnednn::~WithoutOnednn() { --switched_off; }

bool IsWorthATeam(double flops) {
  return flops >= 1e6;  // 10 to 20 microseconds on one core
}

int ThreadsFor(double flops, const ThreadPool& pool) {
  return IsWorthATeam(flops) ? pool.num_threads() : 1;
}

Expected<OnednnPrimitive> OnednnPrimitive::Make(const GrapnelConvSpec& spec) {
  GrapnelPrimitive* made = nullptr;
  RETURN_IF_ERROR(Checked("convolution", [&](char* error, int32_t size) {
    return Onednn()->make_conv(&spec, &made, error, size);
  }));
  OnednnPrimitive result;
  result.primitive_.reset(made);
  return result;
}

Expected<OnednnPrimitive> OnednnPrimitive::Make(const GrapnelMatMulSpec& spec) {
  GrapnelPrimitive* made = nullptr;
  RETURN_IF_ERROR(Checked("matrix product", [&](char* error, int32_t size) {
    return Onednn()->make_matmul(&spec, &made, error, size);
  }));
  OnednnPrimitive result;
  result.primitive_.reset(made);
  return result;
}

Error OnednnPrimitive::SetWeights(const void* weights, ThreadPool& pool) {
  return Checked("weights", [&](char* error, int32_t size) {
    return TheModule().api->set_weights(primitive_.get(), weights, &pool, error, size);
  });
}

Error OnednnPrimitive::Run(const void* source, const void* weights, const void* bias,
                           void* destination, ThreadPool& pool) const {
  GrapnelArgs args{source, weights, bias, destination, &pool};
  return Checked("oneDNN", [&](char* error, int32_t size) {
    return TheModule().api->run(primitive_.get(), &args, error, size);
  });
}

llvm::StringRef OnednnPrimitive::implementation() const {
  return TheModule().api->implementation(primitive_.get());
}

void OnednnPrimitive::Destroy::operator()(GrapnelPrimitive* primitive) const {
  if (primitive) TheModule().api->destroy(primitive);
}

}  // namespace grapnel
