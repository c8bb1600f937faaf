#include "lib/support/sentence.h"

#include "lib/support/printable.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Config/llvm-config.h"

namespace grapnel {
namespace {

class Adapter : public llvm::support::detail::format_adapter {
 public:
  explicit Adapter(SentenceArgument argument) : argument_(argument) {}
  void format(llvm::raw_ostream& os, llvm::StringRef style) override { argument_.Print(os, style); }

 private:
  SentenceArgument argument_;
};

// The result of llvm::formatv, made from a list of arguments whose length is known only at run
// time.
class Formatted : public llvm::formatv_object_base {
 public:
  Formatted(llvm::StringRef format, llvm::ArrayRef<llvm::support::detail::format_adapter*> adapters)
#if LLVM_VERSION_MAJOR >= 20
      : formatv_object_base(format, adapters, /*Validate=*/true){}
#else
      : formatv_object_base(format, adapters) {
  }
#endif
};

}  // namespace

template void SentenceArgument::PrintAs<int>(const void*, llvm::raw_ostream&, llvm::StringRef);
template void SentenceArgument::PrintAs<unsigned>(const void*, llvm::raw_ostream&, llvm::StringRef);
template void SentenceArgument::PrintAs<long>(const void*, llvm::raw_ostream&,  // NOLINT
                                              llvm::StringRef);
template void SentenceArgument::PrintAs<unsigned long>(const void*, llvm::raw_ostream&,  // NOLINT
                                                       llvm::StringRef);
template void SentenceArgument::PrintAs<double>(const void*, llvm::raw_ostream&, llvm::StringRef);

void SentenceArgument::PrintName(const void* value, llvm::raw_ostream& os,
                                 llvm::StringRef /*style*/) {
  os << Printable(*static_cast<const llvm::StringRef*>(value));
}

void SentenceArgument::PrintText(const void* value, llvm::raw_ostream& os, llvm::StringRef style) {
  llvm::format_provider<std::string>::format(*static_cast<const std::string*>(value), os, style);
}

void SentenceArgument::PrintLiteral(const void* value, llvm::raw_ostream& os,
                                    llvm::StringRef style) {
  const char* text = static_cast<const char*>(value);
  llvm::format_provider<const char*>::format(text, os, style);
}

std::string FormatSentence(const char* format, llvm::ArrayRef<SentenceArgument> arguments) {
  llvm::SmallVector<Adapter, 8> held;
  for (const SentenceArgument& argument : arguments) held.emplace_back(argument);
  llvm::SmallVector<llvm::support::detail::format_adapter*, 8> adapters;
  for (Adapter& adapter : held) adapters.push_back(&adapter);
  return Formatted(format, adapters).str();
}

}  // namespace grapnel
