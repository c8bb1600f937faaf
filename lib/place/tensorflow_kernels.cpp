#include "lib/place/tensorflow_kernels.h"

#include <bitset>

#include "lib/ir/module.h"
#include "lib/ir/op_table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

extern "C" {
extern const char grapnel_tensorflow_kernels_begin[];
extern const char grapnel_tensorflow_kernels_end[];
}

namespace grapnel {
namespace {

using llvm::StringRef;

struct Kernel {
  KernelSummary summary;
  std::vector<std::bitset<128>> types;  // of each constraint, by DataType
};

std::vector<std::string> Words(StringRef text) {
  llvm::SmallVector<StringRef, 16> words;
  text.split(words, '|', -1, /*KeepEmpty=*/false);
  return {words.begin(), words.end()};
}

// "CPU(T=float|double host=x)" without the closing bracket.
Kernel ParseKernel(StringRef text) {
  Kernel kernel;
  auto [device, fields] = text.split('(');
  kernel.summary.device = device.str();
  llvm::SmallVector<StringRef, 4> parts;
  fields.split(parts, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [key, values] = part.split('=');
    if (key == "host") {
      kernel.summary.host_arguments = Words(values);
      continue;
    }
    std::bitset<128> types;
    for (const std::string& word : Words(values)) {
      if (auto type = ParseDataType(word); type && *type < 128) types.set(*type);
    }
    kernel.summary.constraints.emplace_back(key.str(), Words(values));
    kernel.types.push_back(types);
  }
  return kernel;
}

bool Allows(const std::bitset<128>& types, DataType type) {
  return type >= 0 && type < 128 && types.test(type);
}

bool Fits(const Kernel& kernel, const Node& node) {
  for (size_t i = 0; i < kernel.types.size(); ++i) {
    auto attr = node.Attr(kernel.summary.constraints[i].first);
    if (!attr) return false;
    if (auto type = attr->AsType()) {
      if (!Allows(kernel.types[i], *type)) return false;
    } else if (auto list = attr->AsTypes()) {
      if (!llvm::all_of(*list, [&](DataType t) { return Allows(kernel.types[i], t); }))
        return false;
    } else {
      return false;
    }
  }
  return true;
}

class TensorFlowKernels : public KernelCatalogue {
 public:
  TensorFlowKernels() {
    StringRef text(grapnel_tensorflow_kernels_begin,
                   grapnel_tensorflow_kernels_end - grapnel_tensorflow_kernels_begin);
    while (!text.empty()) {
      auto [line, rest] = text.split('\n');
      text = rest;
      if (!line.empty() && line.front() != '#') lines_.push_back(line);
    }
  }

  // An op of TensorFlow without any kernel can be placed nowhere; one of somebody else, or a
  // function, anywhere.
  bool Knows(const Node& node) const override {
    return FindOp(node.op()) && !node.graph().module().FindFunction(node.op());
  }

  bool Has(const Node& node, StringRef type) const override { return Match(node, type) != nullptr; }

  std::vector<KernelSummary> KernelsOf(const Node& node) const override {
    std::vector<KernelSummary> all;
    for (const Kernel& kernel : Of(node.op())) all.push_back(kernel.summary);
    return all;
  }

  std::optional<KernelSummary> Find(const Node& node, StringRef type) const override {
    const Kernel* kernel = Match(node, type);
    if (!kernel) return std::nullopt;
    return kernel->summary;
  }

  std::string name() const override { return "TensorFlow 2.21"; }

 private:
  const Kernel* Match(const Node& node, StringRef type) const {
    const std::vector<Kernel>& kernels = Of(node.op());
    for (StringRef device : {type, StringRef("DEFAULT")}) {
      for (const Kernel& kernel : kernels) {
        if (kernel.summary.device == device && Fits(kernel, node)) return &kernel;
      }
    }
    return nullptr;
  }

  const std::vector<Kernel>& Of(StringRef op) const {
    auto [entry, is_new] = parsed_.try_emplace(op);
    if (!is_new) return entry->second;
    auto name_of = [](StringRef line) { return line.split(' ').first; };
    auto line = llvm::partition_point(lines_, [&](StringRef l) { return name_of(l) < op; });
    if (line == lines_.end() || name_of(*line) != op) return entry->second;
    llvm::SmallVector<StringRef, 8> parts;
    line->drop_front(op.size()).split(parts, ')', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts) entry->second.push_back(ParseKernel(part.ltrim()));
    return entry->second;
  }

  std::vector<StringRef> lines_;
  mutable llvm::StringMap<std::vector<Kernel>> parsed_;
};

}  // namespace

std::string KernelSummary::ToString() const {
  std::string text = "device='" + device + "'";
  for (const auto& [attr, types] : constraints) {
    text += "; " + attr + " in [";
    for (size_t i = 0; i < types.size(); ++i) {
      text += i ? ", DT_" : "DT_";
      text += StringRef(types[i]).upper();
    }
    text += "]";
  }
  return text;
}

std::unique_ptr<KernelCatalogue> MakeTensorFlowKernels() {
  return std::make_unique<TensorFlowKernels>();
}

}  // namespace grapnel
