#include "lib/exec/op_reference.h"

#include "lib/exec/frame_plan.h"
#include "lib/exec/kernel.h"
#include "lib/ir/attr.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// Describes the dtype and rank of an input or output of an op, such as "N * T", "float, a scalar"
// or "each of Tin".
std::string KindOf(const OpArg& arg) {
  std::string kind = !arg.type_list_attr.empty() ? "each of " + arg.type_list_attr
                     : !arg.type_attr.empty()    ? arg.type_attr
                                                 : DataTypeName(arg.type).str();
  if (!arg.number_attr.empty()) kind = arg.number_attr + " * " + kind;
  if (arg.is_ref) kind += ", by reference";
  bool is_any = arg.min_rank == 0 && arg.max_rank == OpArg::kAnyRank;
  return is_any ? kind : kind + ", " + RankText(arg.min_rank, arg.max_rank);
}

std::string Allowed(const OpAttr& attr) {
  std::string text;
  if (!attr.allowed_types.empty()) text = "one of " + TypeNames(attr.allowed_types);
  if (!attr.allowed_strings.empty())
    text = "one of '" + llvm::join(attr.allowed_strings, "', '") + "'";
  if (attr.minimum)
    text += llvm::formatv("{0}at least {1}", text.empty() ? "" : ", ", *attr.minimum);
  return text;
}

std::string DefaultOf(const OpAttr& attr) {
  return attr.default_value ? "default " + AttrView(*attr.default_value).ToString() : "required";
}

std::vector<std::string> TraitsOf(const OpInfo& op) {
  std::vector<std::string> traits;
  if (op.is_stateful) traits.push_back("has state or an effect");
  if (op.is_commutative) traits.push_back("the order of its inputs does not matter");
  if (op.is_aggregate) traits.push_back("takes any number of tensors of one shape");
  if (op.deprecated_since > 0)
    traits.push_back("deprecated since GraphDef version " + std::to_string(op.deprecated_since));
  return traits;
}

std::vector<KernelDef> KernelsOf(llvm::StringRef op) {
  std::vector<KernelDef> kernels = KernelRegistry::Get().All();
  llvm::erase_if(kernels, [&](const KernelDef& def) { return op != def.op; });
  return kernels;
}

std::string KernelTypes(const KernelDef& kernel) {
  return kernel.types.empty() ? "any dtype" : TypesText(kernel, ": ");
}

void PrintArgs(const char* title, llvm::ArrayRef<OpArg> args, llvm::raw_ostream& os) {
  if (args.empty()) return;
  std::vector<std::vector<std::string>> rows;
  for (const OpArg& arg : args) rows.push_back({arg.name, KindOf(arg)});
  os << "  " << title << "\n" << Table(rows, "    ");
}

void WriteArgs(const char* key, llvm::ArrayRef<OpArg> args, llvm::json::OStream& json) {
  json.attributeArray(key, [&] {
    for (const OpArg& arg : args) {
      json.object([&] {
        json.attribute("name", arg.name);
        json.attribute("kind", KindOf(arg));
      });
    }
  });
}

}  // namespace

std::string RankText(int min_rank, int max_rank) {
  if (min_rank == max_rank) {
    return min_rank == 0   ? "a scalar"
           : min_rank == 1 ? "a vector"
           : min_rank == 2 ? "a matrix"
                           : llvm::formatv("a tensor of rank {0}", min_rank).str();
  }
  if (max_rank == OpArg::kAnyRank) return llvm::formatv("a tensor of rank {0} or more", min_rank);
  if (min_rank == 0) return llvm::formatv("a tensor of rank {0} at most", max_rank);
  return llvm::formatv("a tensor of rank {0} to {1}", min_rank, max_rank);
}

bool HasKernel(const std::string& op) {
  return KernelRegistry::Get().Has(op, "CPU") || KernelRegistry::Get().Has(op, "GPU");
}

bool IsExecutorsOwn(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
             .Cases("Const", "HostConst", "Placeholder", "PlaceholderV2", true)
             .Cases("_Arg", "_Retval", true)
             .Default(false) ||
         FlowKindOf(op) != FlowKind::kKernel;
}

void WriteOpText(const OpInfo& op, llvm::raw_ostream& os) {
  os << op.name << "\n";
  for (const std::string& trait : TraitsOf(op)) os << "  " << trait << "\n";
  PrintArgs("inputs", op.inputs, os);
  PrintArgs("outputs", op.outputs, os);
  std::vector<std::vector<std::string>> rows;
  for (const OpAttr& attr : op.attrs)
    rows.push_back({attr.name, attr.type, DefaultOf(attr), Allowed(attr)});
  if (!rows.empty()) os << "  attributes\n" << Table(rows, "    ");
  rows.clear();
  for (const KernelDef& kernel : KernelsOf(op.name))
    rows.push_back({kernel.device, KernelTypes(kernel)});
  os << "  runs here on\n";
  os << (rows.empty() ? std::string("    no device: there is no kernel\n") : Table(rows, "    "));
}

void WriteOpJson(const OpInfo& op, llvm::json::OStream& json) {
  json.object([&] {
    json.attribute("name", op.name);
    json.attributeArray("traits", [&] {
      for (const std::string& trait : TraitsOf(op)) json.value(trait);
    });
    WriteArgs("inputs", op.inputs, json);
    WriteArgs("outputs", op.outputs, json);
    json.attributeArray("attributes", [&] {
      for (const OpAttr& attr : op.attrs) {
        json.object([&] {
          json.attribute("name", attr.name);
          json.attribute("type", attr.type);
          if (attr.default_value)
            json.attribute("default",
                           llvm::json::fixUTF8(AttrView(*attr.default_value).ToString()));
          if (std::string allowed = Allowed(attr); !allowed.empty())
            json.attribute("allowed", allowed);
        });
      }
    });
    json.attributeArray("kernels", [&] {
      for (const KernelDef& kernel : KernelsOf(op.name)) {
        json.object([&] {
          json.attribute("device", kernel.device);
          json.attribute("types", KernelTypes(kernel));
        });
      }
    });
  });
}

}  // namespace grapnel
