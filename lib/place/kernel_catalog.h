// What can run where: the question that placement asks, whoever's kernels they are.
#ifndef GRAPNEL_LIB_PLACE_KERNEL_CATALOG_H_
#define GRAPNEL_LIB_PLACE_KERNEL_CATALOG_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/node.h"
#include "lib/support/error.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// One kernel as it is registered.
struct GRAPNEL_PUBLIC KernelSummary {
  std::string device;  // the type of device; "DEFAULT": any that has no kernel of its own
  // Attribute and the values that it may have, all of which must hold: dtypes ("T", {"float",
  // "double"}), or strings in quotes, integers, true and false ("data_format", {"\"NHWC\""}).
  std::vector<std::pair<std::string, std::vector<std::string>>> constraints;
  std::vector<std::string> host_arguments;  // arguments that stay in the host's memory
  std::string label;  // only for nodes whose attribute _kernel is this; empty: for the others
  int priority = 0;   // devices with a kernel of higher priority come first

  std::string ToString() const;  // "device='CPU'; T in [DT_FLOAT, DT_DOUBLE]", as TensorFlow lists
};

// For one thread at a time.
class GRAPNEL_PUBLIC KernelCatalog {
 public:
  virtual ~KernelCatalog() = default;
  // Whether the op can be placed at all by this catalog. One that it does not know (a custom op)
  // is taken to run on every type of device, as TensorFlow has it for function calls.
  virtual bool Knows(const Node& node) const = 0;
  // The priority of the kernel that devices of `type` ("CPU", "GPU") have for the node's op, dtypes
  // and attributes: 0 for nearly all of them; nullopt: there is no kernel. A few hundred
  // nanoseconds: asked for every node.
  virtual std::optional<int> Priority(const Node& node, llvm::StringRef type) const = 0;
  bool Has(const Node& node, llvm::StringRef type) const {
    return Priority(node, type).has_value();
  }
  // Every kernel of an op, in the catalog's order.
  virtual std::vector<KernelSummary> KernelsOf(const Node& node) const = 0;
  // The one that runs the node on `type`.
  virtual std::optional<KernelSummary> Find(const Node& node, llvm::StringRef type) const = 0;
  virtual std::string name() const = 0;  // whose they are: "TensorFlow 2.21", "grapnel"
};

// A catalog that rooms above bring, known by its name from the program's start.
class GRAPNEL_PUBLIC RegisterKernelCatalog {
 public:
  using Make = std::unique_ptr<KernelCatalog> (*)();
  RegisterKernelCatalog(llvm::StringRef name, Make make);
};

// "tensorflow" (2.21), an older version of it ("tensorflow-2.16", "tensorflow-2.13"), or one that
// is registered: "grapnel". An error lists them.
GRAPNEL_PUBLIC Expected<std::unique_ptr<KernelCatalog>> MakeKernelCatalog(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_KERNEL_CATALOG_H_
