#include "lib/place/tensorflow_kernels.h"

#include <bitset>

#include "lib/ir/module.h"
#include "lib/ir/op_table.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

extern "C" {
extern const char grapnel_tensorflow_kernels_begin[], grapnel_tensorflow_kernels_end[];
extern const char grapnel_tensorflow_kernels_2_16_begin[], grapnel_tensorflow_kernels_2_16_end[];
extern const char grapnel_tensorflow_kernels_2_13_begin[], grapnel_tensorflow_kernels_2_13_end[];
}

namespace grapnel {
namespace {

using llvm::StringRef;

struct Kernel {
  KernelSummary summary;
  // For each constraint, the set of allowed dtypes; no bit is set if the constraint is not about
  // dtypes.
  std::vector<std::bitset<128>> types;
};

std::vector<std::string> Words(StringRef text) {
  llvm::SmallVector<StringRef, 16> words;
  text.split(words, '|', -1, /*KeepEmpty=*/false);
  return {words.begin(), words.end()};
}

bool IsDataTypeWord(StringRef value) {
  return llvm::isAlpha(value.front()) && value != "true" && value != "false";
}

void AddConstraint(StringRef attr, StringRef values, Kernel* kernel) {
  std::bitset<128> types;
  for (const std::string& word : Words(values)) {
    if (auto type = ParseDataType(word); type && *type < 128) types.set(*type);
  }
  kernel->summary.constraints.emplace_back(attr.str(), Words(values));
  kernel->types.push_back(types);
}

// Parses a kernel, "CPU(T=float|double host:x)", given without the closing bracket.
Kernel ParseKernel(StringRef text) {
  Kernel kernel;
  auto [device, fields] = text.split('(');
  kernel.summary.device = device.str();
  llvm::SmallVector<StringRef, 4> parts;
  fields.split(parts, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    if (part.consume_front("host:")) {
      kernel.summary.host_arguments = Words(part);
    } else if (part.consume_front("label:")) {
      kernel.summary.label = part.str();
    } else if (part.consume_front("priority:")) {
      llvm::to_integer(part, kernel.summary.priority);
    } else {
      auto [attr, values] = part.split('=');
      AddConstraint(attr, values, &kernel);
    }
  }
  return kernel;
}

bool Allows(const std::bitset<128>& types, DataType type) {
  return type >= 0 && type < 128 && types.test(type);
}

// Returns the value of an attribute that is not a dtype, as the kernel table spells it.
std::string WordOf(const AttrView& attr) {
  if (auto text = attr.AsString()) return ("\"" + *text + "\"").str();
  if (auto flag = attr.AsBool()) return *flag ? "true" : "false";
  if (auto number = attr.AsInt()) return std::to_string(*number);
  return "";
}

bool Fits(const Kernel& kernel, const Node& node) {
  for (size_t i = 0; i < kernel.types.size(); ++i) {
    const auto& [name, values] = kernel.summary.constraints[i];
    auto attr = node.Attr(name);
    if (!attr) return false;
    if (kernel.types[i].none()) {
      if (!llvm::is_contained(values, WordOf(*attr))) return false;
    } else if (auto type = attr->AsType()) {
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

// The lines of a version's file, by op.
class Lines {
 public:
  explicit Lines(StringRef text) {
    while (!text.empty()) {
      auto [line, rest] = text.split('\n');
      text = rest;
      if (!line.empty() && line.front() != '#') lines_.push_back(line);
    }
  }

  // The text after the op's name; nullopt if the file has no line for the op.
  std::optional<StringRef> Find(StringRef op) const {
    auto name_of = [](StringRef line) { return line.split(' ').first; };
    auto line = llvm::partition_point(lines_, [&](StringRef l) { return name_of(l) < op; });
    if (line == lines_.end() || name_of(*line) != op) return std::nullopt;
    return line->drop_front(op.size());
  }

 private:
  std::vector<StringRef> lines_;
};

struct VersionFile {
  TensorFlowVersion version;
  const char *name, *begin, *end;
};
// Newest first: each file lists the ops that differ from the file before.
const VersionFile kFiles[] = {
    {TensorFlowVersion::k2_21, "2.21", grapnel_tensorflow_kernels_begin,
     grapnel_tensorflow_kernels_end},
    {TensorFlowVersion::k2_16, "2.16", grapnel_tensorflow_kernels_2_16_begin,
     grapnel_tensorflow_kernels_2_16_end},
    {TensorFlowVersion::k2_13, "2.13", grapnel_tensorflow_kernels_2_13_begin,
     grapnel_tensorflow_kernels_2_13_end}};

class TensorFlowKernels : public KernelCatalog {
 public:
  explicit TensorFlowKernels(TensorFlowVersion version) {
    for (const VersionFile& file : kFiles) {
      files_.emplace_back(StringRef(file.begin, file.end - file.begin));
      name_ = std::string("TensorFlow ") + file.name;
      if (file.version == version) break;
    }
  }

  // A TensorFlow op without kernels cannot be placed; a custom op or a function can be on any
  // device.
  bool Knows(const Node& node) const override {
    if (node.graph().module().FindFunction(node.op())) return false;
    return FindOp(node.op()) || !Of(node.op()).empty();
  }

  std::optional<int> Priority(const Node& node, StringRef type) const override {
    const Kernel* kernel = Match(node, type);
    if (!kernel) return std::nullopt;
    return kernel->summary.priority;
  }

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

  std::string name() const override { return name_; }

 private:
  const Kernel* Match(const Node& node, StringRef type) const {
    const std::vector<Kernel>& kernels = Of(node.op());
    std::optional<AttrView> asked = node.FindAttr("_kernel");
    StringRef label = asked ? asked->AsString().value_or("") : "";
    for (StringRef device : {type, StringRef("DEFAULT")}) {
      for (const Kernel& kernel : kernels) {
        const KernelSummary& summary = kernel.summary;
        if (summary.device == device && summary.label == label && Fits(kernel, node))
          return &kernel;
      }
    }
    return nullptr;
  }

  const std::vector<Kernel>& Of(StringRef op) const {
    auto [entry, is_new] = parsed_.try_emplace(op);
    if (!is_new) return entry->second;
    std::optional<StringRef> line;
    for (const Lines& lines : llvm::reverse(files_)) {
      if (!line) line = lines.Find(op);
    }
    llvm::SmallVector<StringRef, 8> parts;
    if (line) line->split(parts, ')', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts) entry->second.push_back(ParseKernel(part.ltrim()));
    return entry->second;
  }

  std::string name_;
  std::vector<Lines> files_;  // the newest version first
  mutable llvm::StringMap<std::vector<Kernel>> parsed_;
};

}  // namespace

std::string KernelSummary::ToString() const {
  std::string text = "device='" + device + "'";
  if (!label.empty()) text += "; label='" + label + "'";
  for (const auto& [attr, values] : constraints) {
    text += "; " + attr + " in [";
    for (size_t i = 0; i < values.size(); ++i) {
      if (i) text += ", ";
      text += IsDataTypeWord(values[i]) ? "DT_" + StringRef(values[i]).upper() : values[i];
    }
    text += "]";
  }
  return text;
}

std::unique_ptr<KernelCatalog> MakeTensorFlowKernels(TensorFlowVersion version) {
  return std::make_unique<TensorFlowKernels>(version);
}

}  // namespace grapnel
