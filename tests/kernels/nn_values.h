// Values as doubles, and shared code of the tests of neural-network kernels: they run a node with
// or without oneDNN and compare it to loops too simple to be wrong.
#ifndef GRAPNEL_TESTS_KERNELS_NN_VALUES_H_
#define GRAPNEL_TESTS_KERNELS_NN_VALUES_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/common/dispatch.h"
#include "kernels/common/onednn_loader.h"
#include "tests/kernels/one_node.h"

namespace grapnel::nn_test {

using proto::DT_BFLOAT16;
using proto::DT_DOUBLE;
using proto::DT_FLOAT;
using proto::DT_HALF;
using proto::DT_INT32;

struct Values {
  Dims dims;
  std::vector<double> v;
  double& operator[](int64_t i) { return v[i]; }
  double operator[](int64_t i) const { return v[i]; }
  int64_t size() const { return static_cast<int64_t>(v.size()); }
};

inline Values Zeros(llvm::ArrayRef<int64_t> dims) {
  return {Dims(dims.begin(), dims.end()), std::vector<double>(*NumElements(dims))};
}

// Small integers if `whole`, else numbers that 16-bit floats represent exactly.
inline Values Random(llvm::ArrayRef<int64_t> dims, bool whole = false) {
  static std::mt19937 engine(7);
  Values values = Zeros(dims);
  for (double& x : values.v) x = static_cast<int>(engine() % 33) - 16;
  if (!whole)
    for (double& x : values.v) x /= 16;
  return values;
}

inline Tensor ToTensor(const Values& values, DataType dtype = DT_FLOAT) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(dtype, values.dims));
  ForType(dtype, NumberTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < values.size(); ++i) tensor.data<T>()[i] = static_cast<T>(values[i]);
    return true;
  });
  return tensor;
}

inline Values FromTensor(const Tensor& tensor) {
  Values values = Zeros(tensor.dims());
  ForType(tensor.dtype(), NumberTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < values.size(); ++i) {
      if constexpr (kIsComplex<T>)
        values[i] = tensor.data<T>()[i].real();
      else
        values[i] = static_cast<double>(tensor.data<T>()[i]);
    }
    return true;
  });
  return values;
}

inline double Tolerance(DataType dtype) {
  return dtype == DT_BFLOAT16 ? 1e-2 : dtype == DT_HALF ? 2e-3 : dtype == DT_DOUBLE ? 1e-12 : 3e-5;
}

inline void ExpectNear(const Values& got, const Values& want, double tolerance,
                       const std::string& what) {
  ASSERT_EQ(DimsText(got.dims), DimsText(want.dims)) << what;
  for (int64_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i]) && std::isnan(got[i])) continue;
    ASSERT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::abs(want[i])))
        << what << ", element " << i;
  }
}

inline ThreadPool& Pool() {
  static ThreadPool pool(2);
  return pool;
}

inline std::vector<Tensor> RunNode(OneNode& node, bool plain = false) {
  std::optional<WithoutOnednn> off;
  if (plain) off.emplace();
  auto outputs = node.Run(Pool());
  if (!outputs) {
    ADD_FAILURE() << TextOf(outputs.takeError());
    return {};
  }
  return *outputs;
}

inline std::string ErrorOf(OneNode& node) {
  auto outputs = node.Run(Pool());
  return outputs ? "no error" : TextOf(outputs.takeError());
}

// All indices below `dims`, in row-major order.
inline void ForAll(llvm::ArrayRef<int64_t> dims,
                   const std::function<void(llvm::ArrayRef<int64_t>)>& f) {
  Dims at(dims.size());
  for (int64_t n = *NumElements(dims), i = 0; i < n; ++i) {
    int64_t rest = i;
    for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
      at[d] = rest % dims[d];
      rest /= dims[d];
    }
    f(at);
  }
}

inline int64_t At(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> index) {
  int64_t at = 0;
  for (size_t i = 0; i < dims.size(); ++i) at = at * dims[i] + index[i];
  return at;
}

// --- Windows

struct ConvCase {
  std::string name;
  Dims input, filter;  // channels last
  std::vector<int64_t> strides = {1, 1}, dilations = {1, 1};
  std::string padding = "SAME";
  std::vector<int64_t> pads = {};  // before and after, for each spatial dimension
  bool depthwise = false;
};

struct ConvGeometry {
  std::vector<int64_t> out, before;
};

inline ConvGeometry GeometryOf(const ConvCase& c) {
  ConvGeometry g;
  for (size_t i = 0; i < c.strides.size(); ++i) {
    int64_t in = c.input[1 + i], extent = (c.filter[i] - 1) * c.dilations[i] + 1, s = c.strides[i];
    if (c.padding == "SAME") {
      g.out.push_back((in + s - 1) / s);
      g.before.push_back(std::max<int64_t>(0, (g.out.back() - 1) * s + extent - in) / 2);
    } else {
      int64_t before = c.pads.empty() ? 0 : c.pads[2 * i],
              after = c.pads.empty() ? 0 : c.pads[2 * i + 1];
      g.out.push_back((in + before + after - extent + s) / s);
      g.before.push_back(before);
    }
  }
  return g;
}

// Transposes between [n, spatial..., c] and [n, c, spatial...].
inline Values Turned(const Values& x, bool to_first) {
  int64_t batch = x.dims[0], channels = to_first ? x.dims.back() : x.dims[1],
          plane = x.size() / batch / channels;
  Values y = x;
  y.dims = {batch};
  if (to_first) y.dims.push_back(channels);
  y.dims.append(x.dims.begin() + (to_first ? 1 : 2), x.dims.end() - (to_first ? 1 : 0));
  if (!to_first) y.dims.push_back(channels);
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t p = 0; p < plane; ++p) {
      for (int64_t c = 0; c < channels; ++c) {
        int64_t last = (n * plane + p) * channels + c, first = (n * channels + c) * plane + p;
        y[to_first ? first : last] = x[to_first ? last : first];
      }
    }
  }
  return y;
}

// Expands spatial numbers to a list in data_format order; `edge` is for batch and channels.
inline std::vector<int64_t> Formatted(llvm::ArrayRef<int64_t> spatial, bool first, int per_dim = 1,
                                      int64_t edge = 1) {
  std::vector<int64_t> list(per_dim, edge);
  if (first) list.insert(list.end(), per_dim, edge);
  list.insert(list.end(), spatial.begin(), spatial.end());
  if (!first) list.insert(list.end(), per_dim, edge);
  return list;
}

struct ConvNodeOptions {
  std::string op;
  DataType dtype = DT_FLOAT;
  bool first = false;
};

inline void SetConvAttrs(OneNode& node, const ConvCase& c, const ConvNodeOptions& o) {
  bool three = c.strides.size() == 3;
  node.Type("T", o.dtype).Text("padding", c.padding).Ints("strides", Formatted(c.strides, o.first));
  node.Ints("dilations", Formatted(c.dilations, o.first));
  node.Text("data_format", three ? (o.first ? "NCDHW" : "NDHWC") : (o.first ? "NCHW" : "NHWC"));
  if (!c.pads.empty()) node.Ints("explicit_paddings", Formatted(c.pads, o.first, 2, 0));
}

inline std::string ConvOp(const ConvCase& c) {
  return c.depthwise ? "DepthwiseConv2dNative" : c.strides.size() == 3 ? "Conv3D" : "Conv2D";
}

// --- Fused ops

inline double Activated(const std::string& name, double x) {
  if (name == "Relu") return std::max(x, 0.0);
  if (name == "Relu6") return std::min(std::max(x, 0.0), 6.0);
  if (name == "Elu") return x < 0 ? std::expm1(x) : x;
  if (name == "LeakyRelu") return x < 0 ? x * 0.3 : x;
  if (name == "Tanh") return std::tanh(x);
  if (name == "Sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "_MklSwish") return x / (1 + std::exp(-x));
  if (name == "Mish") return x * std::tanh(std::log1p(std::exp(x)));
  if (name == "GeluExact") return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  if (name == "GeluApproximate")
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return x;
}

inline std::string FusedOpsAttr(const std::vector<std::string>& ops) {
  std::vector<llvm::StringRef> names(ops.begin(), ops.end());
  return attr::Strings(names);
}

}  // namespace grapnel::nn_test

#endif  // GRAPNEL_TESTS_KERNELS_NN_VALUES_H_
