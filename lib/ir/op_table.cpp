#include "lib/ir/op_table.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <memory>

#include "google/protobuf/text_format.h"
#include "lib/proto/attr_value.pb.h"
#include "lib/support/hash.h"
#include "llvm/ADT/StringExtras.h"

extern "C" {
extern const char grapnel_op_table_begin[];
extern const char grapnel_op_table_end[];
}

namespace grapnel {
namespace {

using llvm::StringRef;

bool IsNameChar(char c) { return llvm::isAlnum(c) || c == '_' || c == '>'; }

// Parses one line of the table. After the first mismatch, ok() is false and the result is not
// usable.
class LineReader {
 public:
  explicit LineReader(StringRef line) : rest_(line) {}

  OpInfo Op() {
    OpInfo op;
    op.name = Name();
    Brackets('(', ')', [&] { op.inputs.push_back(Arg()); });
    Need("->");
    Brackets('(', ')', [&] { op.outputs.push_back(Arg()); });
    if (Next() == '{') Brackets('{', '}', [&] { op.attrs.push_back(Attr()); });
    if (Next() == '[') Brackets('[', ']', [&] { Flag(op); });
    for (OpArg& arg : op.inputs) Resolve(arg, op);
    for (OpArg& arg : op.outputs) Resolve(arg, op);
    if (!rest_.empty()) ok_ = false;
    return op;
  }

  bool ok() const { return ok_; }

 private:
  char Next() {
    rest_ = rest_.ltrim();
    return ok_ && !rest_.empty() ? rest_.front() : '\0';
  }

  bool Take(StringRef token) {
    rest_ = rest_.ltrim();
    return ok_ && rest_.consume_front(token);
  }

  void Need(StringRef token) {
    if (!Take(token)) ok_ = false;
  }

  std::string Name() {
    Next();
    StringRef name = rest_.take_while(IsNameChar);
    if (name.empty()) ok_ = false;
    rest_ = rest_.drop_front(name.size());
    return name.str();
  }

  template <typename Item>
  void Brackets(char open, char close, Item item) {
    Need(StringRef(&open, 1));
    while (ok_ && !Take(StringRef(&close, 1))) {
      item();
      Take(",");
    }
  }

  // Parses an argument. Its kind is stored in type_attr, even if it is a dtype: the line's
  // attributes, which show whether it is, come later.
  OpArg Arg() {
    OpArg arg;
    arg.name = Name();
    Need(":");
    std::string kind = Name();
    if (Take("*")) {
      arg.number_attr = kind;
      kind = Name();
    }
    (Take("...") ? arg.type_list_attr : arg.type_attr) = kind;
    arg.is_ref = Take("&");
    if (Take("rank ")) {
      arg.min_rank = arg.max_rank = Rank();
      if (Take("..")) arg.max_rank = llvm::isDigit(Next()) ? Rank() : OpArg::kAnyRank;
    }
    if (Take("is ")) {
      StringRef before = rest_;
      SkipFullType();
      arg.full_type = before.drop_back(rest_.size()).str();
    }
    return arg;
  }

  void Resolve(OpArg& arg, const OpInfo& op) {
    if (arg.type_attr.empty() || op.FindAttr(arg.type_attr)) return;
    arg.type = Type(arg.type_attr);
    arg.type_attr.clear();
  }

  void SkipFullType() {
    Take("$");
    Name();
    if (Next() == '[') Brackets('[', ']', [&] { SkipFullType(); });
    if (Take("$")) Name();
  }

  OpAttr Attr() {
    OpAttr attr;
    attr.name = Name();
    Need(":");
    std::string element = Name();
    bool is_list = element == "list";
    if (is_list) {
      Need("(");
      element = Name();
      Need(")");
    }
    attr.type = is_list ? "list(" + element + ")" : element;
    if (Take("in ")) {
      Brackets('[', ']', [&] {
        if (element == "type") {
          attr.allowed_types.push_back(Type(Name()));
        } else {
          attr.allowed_strings.push_back(Quoted());
        }
      });
    }
    if (Take(">=")) attr.minimum = Int();
    if (Take("=")) {
      proto::AttrValue value;
      is_list ? List(element, *value.mutable_list()) : Scalar(element, value);
      attr.default_value = value.SerializeAsString();
    }
    return attr;
  }

  void Scalar(StringRef kind, proto::AttrValue& out) {
    if (kind == "string") return out.set_s(Quoted());
    if (kind == "int") return out.set_i(Int());
    if (kind == "float") return out.set_f(Float());
    if (kind == "bool") return out.set_b(Bool());
    if (kind == "type") return out.set_type(Type(Name()));
    if (kind == "shape") return Shape(*out.mutable_shape());
    if (kind == "tensor") return Braces(*out.mutable_tensor());
    if (kind == "func") return Braces(*out.mutable_func());
    ok_ = false;
  }

  void List(StringRef kind, proto::AttrValue::ListValue& out) {
    Brackets('[', ']', [&] {
      if (kind == "string") return out.add_s(Quoted());
      if (kind == "int") return out.add_i(Int());
      if (kind == "float") return out.add_f(Float());
      if (kind == "bool") return out.add_b(Bool());
      if (kind == "type") return out.add_type(Type(Name()));
      if (kind == "shape") return Shape(*out.add_shape());
      if (kind == "tensor") return Braces(*out.add_tensor());
      if (kind == "func") return Braces(*out.add_func());
      ok_ = false;
    });
  }

  DataType Type(StringRef name) {
    std::optional<DataType> type = ParseDataType(name);
    if (!type) ok_ = false;
    return type.value_or(proto::DT_INVALID);
  }

  int64_t Int() {
    int64_t value = 0;
    Next();
    if (rest_.consumeInteger(10, value)) ok_ = false;
    return value;
  }

  int8_t Rank() {
    int64_t rank = Int();
    if (rank < 0 || rank >= OpArg::kAnyRank) ok_ = false;
    return static_cast<int8_t>(rank);
  }

  float Float() {
    Next();
    std::string text =
        rest_.take_until([](char c) { return c == ',' || c == ']' || c == '}'; }).str();
    char* end = nullptr;
    float value = std::strtof(text.c_str(), &end);
    if (text.empty() || *end) ok_ = false;
    rest_ = rest_.drop_front(text.size());
    return value;
  }

  bool Bool() {
    std::string word = Name();
    if (word != "true" && word != "false") ok_ = false;
    return word == "true";
  }

  // Parses a quoted text with the escapes that the script writes: \n, \r, \t, \", \', \\ and three
  // octal digits.
  std::string Quoted() {
    std::string text;
    Need("\"");
    while (ok_ && !rest_.consume_front("\"")) {
      if (rest_.empty()) {
        ok_ = false;
      } else if (rest_.consume_front("\\")) {
        text += Escape();
      } else {
        text += rest_.front();
        rest_ = rest_.drop_front();
      }
    }
    return text;
  }

  char Escape() {
    if (rest_.empty()) {
      ok_ = false;
      return '\0';
    }
    unsigned code = 0;
    if (llvm::isDigit(rest_.front())) {
      if (rest_.take_front(3).getAsInteger(8, code)) ok_ = false;
      rest_ = rest_.drop_front(std::min<size_t>(3, rest_.size()));
      return static_cast<char>(code);
    }
    char c = rest_.front();
    rest_ = rest_.drop_front();
    return c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
  }

  void Shape(proto::TensorShapeProto& out) {
    if (Take("?")) return out.set_unknown_rank(true);
    Brackets('[', ']', [&] { out.add_dim()->set_size(Take("?") ? -1 : Int()); });
  }

  void Braces(google::protobuf::Message& out) {
    if (Next() != '{') ok_ = false;
    int depth = 0;
    bool quoted = false;
    size_t size = 0;
    for (; size < rest_.size(); ++size) {
      char c = rest_[size];
      if (quoted && c == '\\') ++size;
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0) break;
    }
    if (!ok_ || size == rest_.size() ||
        !google::protobuf::TextFormat::ParseFromString(rest_.slice(1, size).str(), &out)) {
      ok_ = false;
    }
    rest_ = rest_.drop_front(std::min(size + 1, rest_.size()));
  }

  void Flag(OpInfo& op) {
    std::string flag = Name();
    if (flag == "deprecated") {
      op.deprecated_since = static_cast<int>(Int());
    } else if (flag == "aggregate") {
      op.is_aggregate = true;
    } else if (flag == "allows_uninitialized_input") {
      op.allows_uninitialized_input = true;
    } else if (flag == "commutative") {
      op.is_commutative = true;
    } else if (flag == "distributed") {
      op.is_distributed_communication = true;
    } else if (flag == "stateful") {
      op.is_stateful = true;
    } else {
      ok_ = false;
    }
  }

  StringRef rest_;
  bool ok_ = true;
};

// The table: finds an op's line by name, and parses the line on first use.
class OpTable {
 public:
  static OpTable& Get() {
    static OpTable* table =
        new OpTable;  // never freed: OpInfo pointers outlive every static destructor
    return *table;
  }

  std::vector<StringRef> Names() const {
    std::vector<StringRef> names;
    names.reserve(lines_.size());
    for (StringRef line : lines_) names.push_back(NameOf(line));
    return names;
  }

  const OpInfo* Find(StringRef name) {
    size_t place = HashBytes(name) % kPlaces;
    while (places_[place] && !IsOf(lines_[places_[place] - 1], name)) place = (place + 1) % kPlaces;
    if (!places_[place]) return nullptr;
    size_t i = places_[place] - 1;
    if (const OpInfo* op = ops_[i].load(std::memory_order_acquire)) return op;
    return Publish(i);
  }

 private:
  // Finds where each line begins and parses nothing, because the first lookup of every process
  // waits for this.
  OpTable() : places_(kPlaces) {
    lines_.reserve(kPlaces / 2);
    StringRef rest(grapnel_op_table_begin, grapnel_op_table_end - grapnel_op_table_begin);
    while (!rest.empty()) {
      auto [line, after] = rest.split('\n');
      rest = after;
      if (line.empty() || line.front() == '#') continue;
      lines_.push_back(line);
      size_t place = HashBytes(NameOf(line)) % kPlaces;
      while (places_[place]) place = (place + 1) % kPlaces;
      places_[place] = static_cast<uint16_t>(lines_.size());
    }
    assert(lines_.size() <= kPlaces / 2);
    ops_ = std::make_unique<std::atomic<const OpInfo*>[]>(lines_.size());
  }

  // Parses line i. If two threads parse the same line at the same time, both return the result of
  // the first.
  const OpInfo* Publish(size_t i) {
    LineReader reader(lines_[i]);
    auto op = std::make_unique<OpInfo>(reader.Op());
    assert(reader.ok() && "lib/ir/op_table.txt is damaged: scripts/make_op_table.py writes it");
    if (!reader.ok()) return nullptr;
    const OpInfo* winner = nullptr;
    if (!ops_[i].compare_exchange_strong(winner, op.get(), std::memory_order_acq_rel))
      return winner;
    return op.release();
  }

  static StringRef NameOf(StringRef line) { return line.take_front(line.find('(')); }
  static bool IsOf(StringRef line, StringRef name) {
    return line.size() > name.size() && line[name.size()] == '(' && line.starts_with(name);
  }

  static constexpr size_t kPlaces = 4096;  // a power of two, over twice the ops
  std::vector<StringRef> lines_;           // sorted by name
  std::vector<uint16_t> places_;           // by hash of the name: the line's index + 1; 0: no line
  std::unique_ptr<std::atomic<const OpInfo*>[]> ops_;
};

template <typename T>
const T* FindByName(const std::vector<T>& all, StringRef name) {
  for (const T& one : all) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace

const OpArg* OpInfo::FindOutput(StringRef output) const { return FindByName(outputs, output); }
const OpAttr* OpInfo::FindAttr(StringRef attr) const { return FindByName(attrs, attr); }

const OpInfo* FindOp(StringRef name) { return OpTable::Get().Find(name); }

std::vector<StringRef> AllOpNames() { return OpTable::Get().Names(); }

}  // namespace grapnel
