#include "lib/support/suggest.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <tuple>

#include "lib/support/printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostNear = 3, kMostListed = 8;

size_t MostEdits(size_t length) { return length < 4 ? 1 : std::clamp<size_t>(length / 4, 2, 4); }

// Returns the last component: "Relu" of "dense/Relu".
llvm::StringRef LastOf(llvm::StringRef text) { return text.substr(text.rfind('/') + 1); }

// Computes the edit distance (insert, delete, replace; ignoring case) between one text and many
// names. Stores a column of Levenshtein's table as bits (Myers 1999, Hyyroe 2003), one column per
// letter of the name. Names in sequence often begin with the same letters, so it reuses the columns
// of the previous name.
class EditDistance {
 public:
  static constexpr size_t kLongest = 128;  // the most letters of the text

  explicit EditDistance(llvm::StringRef text) : length_(text.size()) {
    assert(!text.empty() && text.size() <= kLongest);
    for (size_t i = 0; i < text.size(); ++i) {
      for (char letter : {llvm::toLower(text[i]), llvm::toUpper(text[i])})
        places_[static_cast<unsigned char>(letter)] |= Bits(1) << i;
    }
    columns_.push_back({~Bits(0), 0, text.size()});
  }

  size_t To(llvm::StringRef name) {
    size_t same = 0, most = std::min(name.size(), last_.size());
    while (same < most && name[same] == last_[same]) ++same;
    last_.resize(same);
    last_.append(name.begin() + same, name.end());
    columns_.resize(same + 1);
    for (size_t i = same; i < name.size(); ++i) columns_.push_back(Next(columns_.back(), name[i]));
    return columns_.back().distance;
  }

 private:
  using Bits = unsigned __int128;
  struct Column {
    Bits more, less;  // rows whose distance is one more (less) than in the row above
    size_t distance;  // the distance in the last row
  };

  Column Next(const Column& column, char letter) const {
    Bits same = places_[static_cast<unsigned char>(letter)], more = column.more;
    Bits diagonal = (((same & more) + more) ^ more) | same | column.less;
    Bits right_more = column.less | ~(diagonal | more), right_less = diagonal & more;
    Bits last_row = Bits(1) << (length_ - 1);
    size_t distance = column.distance + !!(right_more & last_row) - !!(right_less & last_row);
    right_more = (right_more << 1) | 1;
    return {(right_less << 1) | ~(diagonal | right_more), right_more & diagonal, distance};
  }

  size_t length_;
  Bits places_[256] = {};  // for each letter, the text's positions of it
  std::string last_;
  std::vector<Column> columns_;  // after each letter of `last_`, and before the first
};

// Keeps the kMostNear best names: the smallest distance is best, then no outer scopes, the same
// case, the shortest name, and byte order.
class Nearest {
 public:
  using Key = std::tuple<size_t, bool, bool, size_t>;

  void Add(Key key, llvm::StringRef name) {
    std::pair order(key, name);
    if (best_.size() == kMostNear && OrderOf(best_.back()) <= order) return;
    auto is_before = [&](const Entry& entry) { return OrderOf(entry) < order; };
    auto at = std::find_if_not(best_.begin(), best_.end(), is_before);
    if (at != best_.end() && at->name == name) return;
    best_.insert(at, {key, name.str()});
    if (best_.size() > kMostNear) best_.pop_back();
  }
  // Returns the largest distance, at most `most`, with which another name could still be among the
  // best.
  size_t Reach(size_t most) const {
    return best_.size() < kMostNear ? most : std::min(most, std::get<0>(best_.back().key));
  }
  bool empty() const { return best_.empty(); }
  std::vector<std::string> Names() && {
    std::vector<std::string> names;
    for (Entry& entry : best_) {
      // Drops names at a distance above 2 that are more than twice as far away as the nearest,
      // because the user hardly meant them.
      if (std::get<0>(entry.key) > std::max<size_t>(2, 2 * std::get<0>(best_.front().key))) break;
      names.push_back(std::move(entry.name));
    }
    return names;
  }

 private:
  struct Entry {
    Key key;
    std::string name;
  };
  static std::pair<Key, llvm::StringRef> OrderOf(const Entry& entry) {
    return {entry.key, entry.name};
  }
  std::vector<Entry> best_;
};

// Compares names with the text that the user typed. Of "a/b/c", only the last components count if
// the text has fewer: "b/c" for the text "b/d".
class Comparer {
 public:
  explicit Comparer(llvm::StringRef text)
      : text_(text.take_back(EditDistance::kLongest)),
        slashes_(text_.count('/')),
        most_(MostEdits(text_.size())),
        distance_(text_) {}

  void Compare(llvm::StringRef name) {
    size_t most = nearest_.Reach(most_);
    auto [tail, has_scopes] = TailOf(name, text_.size() + most);
    if (tail.empty()) return;
    if (tail.size() < text_.size() && IsScopeLess(name)) {
      nearest_.Add({0, true, false, text_.size()}, name);
      return;
    }
    if (tail.size() + most < text_.size()) return;
    size_t distance = distance_.To(tail);
    // With such a distance the names need not have a letter in common: they are not similar.
    if (distance > most || distance >= std::min(text_.size(), tail.size())) return;
    nearest_.Add({distance, has_scopes, distance == 0 && tail != text_, name.size()}, name);
  }

  Nearest& nearest() { return nearest_; }

 private:
  // Returns the last components of `name`, as many as `text_` has, and whether `name` has more
  // components; nothing if the last components have more than `most` letters.
  std::pair<llvm::StringRef, bool> TailOf(llvm::StringRef name, size_t most) const {
    size_t slashes = 0, begin = name.size();
    while (begin > 0) {
      if (name[begin - 1] == '/' && ++slashes > slashes_) break;
      if (name.size() - --begin > most) return {};
    }
    return {name.drop_front(begin), begin > 0};
  }
  // True if the text is `name` with outer scopes before it: the user typed "model/dense/Relu" and
  // the name is "dense/Relu".
  bool IsScopeLess(llvm::StringRef name) const {
    if (text_.size() <= name.size() || text_[text_.size() - name.size() - 1] != '/') return false;
    return name.contains('/') && text_.take_back(name.size()).equals_insensitive(name);
  }

  llvm::StringRef text_;
  size_t slashes_, most_;
  EditDistance distance_;
  Nearest nearest_;
};

// True if `name` contains `text`, ignoring case. Looks for the first letter of `text` first,
// because most letters of a name differ from it.
bool Holds(llvm::StringRef name, llvm::StringRef text) {
  const char first[] = {llvm::toLower(text.front()), llvm::toUpper(text.front())};
  for (; name.size() >= text.size(); name = name.drop_front()) {
    if ((name.front() == first[0] || name.front() == first[1]) &&
        name.take_front(text.size()).equals_insensitive(text))
      return true;
  }
  return false;
}

std::string Quoted(llvm::ArrayRef<std::string> names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "'" : ", '") + Printable(name) + "'";
  return text;
}

}  // namespace

std::vector<std::string> NearNames(llvm::StringRef text, NameSource names) {
  if (text.empty()) return {};
  llvm::StringRef last = LastOf(text);
  Comparer comparer(text);
  std::optional<Comparer> in_other_scopes;
  if (last.size() < text.size() && last.size() > 1) in_other_scopes.emplace(last);
  Nearest holders;
  names([&](llvm::StringRef name) {
    comparer.Compare(name);
    if (!comparer.nearest().empty()) return;
    if (in_other_scopes) in_other_scopes->Compare(name);
    if (text.size() > 1 && Holds(name, text)) holders.Add({0, false, false, name.size()}, name);
  });
  if (!comparer.nearest().empty()) return std::move(comparer.nearest()).Names();
  if (holders.empty() && in_other_scopes) return std::move(in_other_scopes->nearest()).Names();
  return std::move(holders).Names();
}

std::string DidYouMean(llvm::StringRef text, NameSource names) {
  std::vector<std::string> near = NearNames(text, names);
  if (!near.empty()) return "; did you mean " + Quoted(near) + "?";
  std::vector<std::string> all;
  names([&](llvm::StringRef name) {
    if (all.size() <= kMostListed && !llvm::is_contained(all, name)) all.push_back(name.str());
  });
  if (all.size() > kMostListed) return "";
  if (all.empty()) return "; there are none";
  if (all.size() == 1 && all[0].empty()) return "; there is only one, without a name";
  return (all.size() == 1 ? "; there is only " : "; there are ") + Quoted(all);
}

std::string DidYouMean(llvm::StringRef text, llvm::ArrayRef<llvm::StringRef> names) {
  return DidYouMean(text, [&](NameSink take) {
    for (llvm::StringRef name : names) take(name);
  });
}

std::string DidYouMean(llvm::StringRef text, llvm::ArrayRef<std::string> names) {
  return DidYouMean(text, [&](NameSink take) {
    for (const std::string& name : names) take(name);
  });
}

}  // namespace grapnel
