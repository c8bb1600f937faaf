// Lists the kernels that placement chooses devices by, for TensorFlow or for grapnel.
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

// One registered kernel.
struct GRAPNEL_PUBLIC KernelSummary {
  std::string device;  // the device type; "DEFAULT": types without a kernel of their own
  // Attributes and their allowed values; a node must satisfy each constraint: dtypes ("T",
  // {"float", "double"}), or strings in quotes, integers, true and false ("data_format",
  // {"\"NHWC\""}).
  std::vector<std::pair<std::string, std::vector<std::string>>> constraints;
  std::vector<std::string> host_arguments;  // arguments that stay in the host's memory
  std::string label;  // for nodes with this attribute _kernel; empty: without _kernel
  int priority = 0;   // TensorFlow prefers devices with a kernel of higher priority

  std::string ToString() const;  // as TensorFlow: "device='CPU'; T in [DT_FLOAT, DT_DOUBLE]"
};

// Not thread-safe.
class GRAPNEL_PUBLIC KernelCatalog {
 public:
  virtual ~KernelCatalog() = default;
  // False if this catalog does not know the op. The placer assumes that such an op (a custom op)
  // can run on every device type, as TensorFlow assumes for function calls.
  virtual bool Knows(const Node& node) const = 0;
  // The priority of the kernel that devices of `type` ("CPU", "GPU") have for the node's op, dtypes
  // and attributes: 0 for nearly all kernels; nullopt if there is no kernel. Called for every node,
  // so it must take only a few hundred nanoseconds.
  virtual std::optional<int> Priority(const Node& node, llvm::StringRef type) const = 0;
  bool Has(const Node& node, llvm::StringRef type) const {
    return Priority(node, type).has_value();
  }
  // Every kernel of the node's op, in the catalog's order.
  virtual std::vector<KernelSummary> KernelsOf(const Node& node) const = 0;
  // The kernel that runs the node on devices of `type`; nullopt if there is no such kernel.
  virtual std::optional<KernelSummary> Find(const Node& node, llvm::StringRef type) const = 0;
  virtual std::string name() const = 0;  // the source of the kernels: "TensorFlow 2.21", "grapnel"
};

// Registers a catalog of a higher-level library by name, at the program's start.
class GRAPNEL_PUBLIC RegisterKernelCatalog {
 public:
  using Make = std::unique_ptr<KernelCatalog> (*)();
  RegisterKernelCatalog(llvm::StringRef name, Make make);
};

// Makes the catalog "tensorflow" (2.21), an older version ("tensorflow-2.16", "tensorflow-2.13"),
// or a registered one ("grapnel"). Errors list the names.
GRAPNEL_PUBLIC Expected<std::unique_ptr<KernelCatalog>> MakeKernelCatalog(llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_KERNEL_CATALOG_H_
