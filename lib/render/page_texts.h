// The texts that rows of the page's documents have in common.
#ifndef GRAPNEL_LIB_RENDER_PAGE_TEXTS_H_
#define GRAPNEL_LIB_RENDER_PAGE_TEXTS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// The subject of a text. Most nodes of a network differ from others only by name and inputs, so a
// row has numbers of texts, and each distinct text is written once. All texts are JSON; their
// fields are in lib/render/node_texts.h and scope_texts.h.
enum class PageTextKind : uint8_t {
  kTraits,    // of a node: its op, device, types and attributes
  kPanel,     // of a node: what only its panel shows
  kBox,       // of a node: the notes and costs in its box
  kDetails,   // of a node: the details of its mark
  kStack,     // of a node: the source lines that made it
  kAbout,     // of a scope: the counts and costs of its nodes
  kContents,  // of a scope: what is in it, and the edges
};
constexpr size_t kNumTextKinds = 7;
// Returns the name of the column with these texts' numbers: "traits".
llvm::StringRef TextKindName(size_t kind);

// Numbers the distinct texts of each kind from 1, in the order of their first use. 0 stands for no
// text.
class PageTexts {
 public:
  uint32_t Number(PageTextKind kind, llvm::StringRef text);
  // The texts with the numbers 1, 2, ...
  llvm::ArrayRef<llvm::StringRef> Of(size_t kind) const { return kinds_[kind].texts; }

 private:
  struct Kind {
    llvm::StringMap<uint32_t> numbers;
    std::vector<llvm::StringRef> texts;  // keys of `numbers`
  };
  std::array<Kind, kNumTextKinds> kinds_;
};

// Other numbers for the texts of a PageTexts, by kind and number: entry 0 is 0.
using TextNumbers = std::array<std::vector<uint32_t>, kNumTextKinds>;

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PAGE_TEXTS_H_
