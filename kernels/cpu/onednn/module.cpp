// The entry point of grapnel_onednn.so; no exception leaves the module.
#include <cstring>
#include <exception>

#include "kernels/cpu/onednn/openmp.h"
#include "kernels/cpu/onednn/primitive.h"
#include "kernels/cpu/onednn/thread_pool_adapter.h"

namespace grapnel::onednn {
namespace {

template <typename F>
int32_t Guarded(char* error, int32_t error_size, F&& body) {
  try {
    body();
    return 0;
  } catch (const dnnl::error& e) {
    std::snprintf(error, error_size, "%s (oneDNN status %d)", e.what(), static_cast<int>(e.status));
  } catch (const std::exception& e) {
    std::snprintf(error, error_size, "%s", e.what());
  }
  return 1;
}

// oneDNN queries the number of threads when it creates a primitive. A loop that runs during
// creation runs only on this thread, because the caller passes its pool only to later calls.
template <typename Spec>
int32_t Make(const Spec* spec, GrapnelPrimitive* (*make)(const Spec&), GrapnelPrimitive** made,
             char* error, int32_t error_size) {
  return Guarded(error, error_size, [&] {
    TeamScope team(spec->parts, TeamScope::kNoPool);
    *made = make(*spec);
  });
}

constexpr GrapnelOnednnApi kApi = {
    GRAPNEL_ONEDNN_API_VERSION,
    [](const GrapnelConvSpec* spec, GrapnelPrimitive** made, char* error, int32_t error_size) {
      return Make(spec, MakeConv, made, error, error_size);
    },
    [](const GrapnelMatMulSpec* spec, GrapnelPrimitive** made, char* error, int32_t error_size) {
      return Make(spec, MakeMatMul, made, error, error_size);
    },
    [](const GrapnelPrimitive* primitive) { return primitive->packed_bytes(); },
    [](const GrapnelPrimitive* primitive) { return primitive->scratch_bytes(); },
    [](const GrapnelPrimitive* primitive, const void* from, void* to, void* pool, char* error,
       int32_t error_size) {
      return Guarded(error, error_size, [&] { primitive->Pack(from, to, pool); });
    },
    [](const GrapnelPrimitive* primitive, const void* from, void* to, void* pool, char* error,
       int32_t error_size) {
      return Guarded(error, error_size, [&] { primitive->Unpack(from, to, pool); });
    },
    [](const GrapnelPrimitive* a, const GrapnelPrimitive* b) {
      return static_cast<int32_t>(a->weights_desc == b->weights_desc);
    },
    [](GrapnelPrimitive* primitive, const GrapnelArgs* args, char* error, int32_t error_size) {
      return Guarded(error, error_size, [&] { primitive->Run(*args); });
    },
    [](const GrapnelPrimitive* primitive) { return primitive->implementation.c_str(); },
    [](GrapnelPrimitive* primitive) { delete primitive; },
};

}  // namespace
}  // namespace grapnel::onednn

extern "C" __attribute__((visibility("default"))) const GrapnelOnednnApi* GrapnelOnednnEntry(
    const GrapnelOnednnHost* host) {
  if (!host || host->version != GRAPNEL_ONEDNN_API_VERSION) return nullptr;
  grapnel::onednn::SetHost(host, grapnel::onednn::OtherRuntime());
  return &grapnel::onednn::kApi;
}
