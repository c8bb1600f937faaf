#include "lib/render/page_address.h"

#include "lib/ir/find.h"
#include "lib/render/selection.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Encodes text as application/x-www-form-urlencoded.
std::string Encoded(llvm::StringRef text) {
  std::string result;
  for (unsigned char c : text) {
    if (llvm::isAlnum(c) || llvm::StringRef("-_.*").contains(c)) {
      result += static_cast<char>(c);
    } else {
      result += "%" + llvm::utohexstr(c, /*LowerCase=*/false, /*Width=*/2);
    }
  }
  return result;
}

class AddressWriter {
 public:
  void Add(llvm::StringRef key, llvm::StringRef value) {
    text_ += (text_.empty() ? "" : "&") + key.str() + "=" + Encoded(value);
  }
  std::string Finish() && { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

Expected<std::string> PageAddress(const Module& module, const ViewOptions& options,
                                  llvm::StringRef hide) {
  AddressWriter address;
  if (!hide.empty()) address.Add("hide", hide);
  if (!options.around.empty()) {
    RETURN_IF_ERROR(FindNode(module, options.around).takeError());
    address.Add("around", options.around);
    address.Add("hops", std::to_string(options.hops));
  }
  if (!options.path_from.empty()) {
    ASSIGN_OR_RETURN(Node from, FindNode(module, options.path_from));
    ASSIGN_OR_RETURN(Node to, FindNode(module, options.path_to));
    RETURN_IF_ERROR(NodesBetween(from, to).takeError());
    address.Add("path", options.path_from + ".." + options.path_to);
  }
  if (options.color_by == ColorBy::kDevice) address.Add("color", "device");
  return std::move(address).Finish();
}

}  // namespace grapnel
