// Graphs that are wrong on purpose, made from a seed: sizes that no memory can hold, shapes that
// should be scalars but are not, contradicting dtypes, cycles, infinite loops. Each is placed in
// the main graph, a function, a branch or a loop, written as text, as protos or compressed, and
// passed to the commands that read graphs: they must report the fault, or do their work, in little
// time and memory.
//
//   grapnel_attacks SEED OF_EACH_KIND [-v]
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "tests/fuzz/in_process.h"
#include "tests/fuzz/random.h"

namespace grapnel {
namespace {

namespace fs = std::filesystem;

// Lines of text (docs/reference/text.md) that define %y. N stands for a size, S for a value that should be a
// scalar, T for a dtype, U for another one, M for a small number.
// NOLINTBEGIN(bugprone-suspicious-missing-comma): what is too long for a line is two literals.
constexpr const char* kSizes[] = {
    "%y = UnsortedSegmentSum(T [1,2], [0,0], int64 N) {T=T, Tindices=int32, Tnumsegments=int64}",
    "%y = UnsortedSegmentSum(T [1,2], int64 [0,N], int64 2) {T=T, Tindices=int64, "
    "Tnumsegments=int64}",
    "%y = TopKV2(T [3,1,2], I) {T=T}",
    "%y = Tile(T [[1,2],[3,4]], int64 [N,N]) {T=T, Tmultiples=int64}",
    "%y = BroadcastTo(T [1], int64 [N,1,N]) {T=T, Tidx=int64}",
    "%y = Reshape(T [1,2], int64 [N,N]) {T=T, Tshape=int64}",
    "%y = Fill(int64 [M,N,M], T 1) {T=T, index_type=int64}",
    "%y = ResizeNearestNeighbor(T [[[[1]]]], [I,I]) {T=T}",
    "%y = SpaceToBatchND(T [[1],[2]], int64 [N], int64 [[N,N]]) {T=T, Tblock_shape=int64, "
    "Tpaddings=int64}",
    "%y = StridedSlice(T [1,2,3], int64 [N], int64 [-1], int64 [N]) {Index=int64, T=T}",
    "%y = Roll(T [1,2,3], int64 N, 0) {T=T, Tshift=int64, Taxis=int32}",
    "%y = DynamicStitch([I], T [1]) {N=1, T=T}",
    "%y = MatrixDiagV3(T [1], [I], I, I, T 0) {T=T}",
    "%y = GatherV2(T [1,2], int64 [N], 0) {Tparams=T, Tindices=int64}",
    "%y = Slice(T [1,2,3], int64 [N], int64 [N]) {T=T, Index=int64}",
    "%y = PadV2(T [1], int64 [[N,N]], T 0) {T=T, Tpaddings=int64}",
    "%y = SparseToDense(int64 [[0,N]], int64 [M,N], T [1], T 0) {T=T, Tindices=int64}",
    "%y = Cumsum(T [1,2], int64 N) {T=T, Tidx=int64}",
    "%y = ReverseV2(T [1,2], int64 [N]) {T=T, Tidx=int64}",
    "%y = RaggedRange(int64 [0], int64 [N], int64 [1])",
    "%y = Placeholder {dtype=T, shape=[N,N]}",
    "%y = EnsureShape(T [1]) {T=T, shape=[N,M]}",
    "%y = MatrixBandPart(T [[1]], int64 N, int64 N) {T=T, Tindex=int64}",
    "%y = StatelessMultinomial(float [[0.5]], I, int64 [1,2]) {T=float, Tseed=int64}",
    "%d = WindowDataset(%r, int64 N, int64 N, int64 N, false) {output_shapes=[[]], "
    "output_types=[int64]}\n%r = RangeDataset(int64 0, int64 5, int64 1) {output_shapes=[[]], "
    "output_types=[int64]}\n%y = DatasetCardinality(%d)",
};
constexpr const char* kScalars[] = {
    "%y = Cumsum(T [1,2], %s) {T=T, Tidx=int32}\n%s = S",
    "%y = TopKV2(T [1,2], %s) {T=T}\n%s = S",
    "%y = ExpandDims(T [1,2], %s) {T=T, Tdim=int32}\n%s = S",
    "%y = ArgMax(T [1,2], %s) {T=T, Tidx=int32}\n%s = S",
    "%y = ConcatV2(T [1], T [2], %s) {N=2, T=T, Tidx=int32}\n%s = S",
    "%y = Concat(%s, T [1], T [2]) {N=2, T=T}\n%s = S",
    "%y = GatherV2(T [1,2], [0], %s) {Tparams=T, Tindices=int32, Taxis=int32}\n%s = S",
    "%y = Range(%s, %s, %s) {Tidx=int32}\n%s = S",
    "%y = LinSpace(0.0, 1.0, %s) {T=float, Tidx=int32}\n%s = S",
    "%y = OneHot([0,1], %s, T 1, T 0) {T=T, TI=int32}\n%s = S",
    "%y = Fill(%s, T 1) {T=T, index_type=int32}\n%s = S",
    "%y = Split(%s, T [1,2]) {T=T, num_split=2}\n%s = S",
    "%y = SplitV(T [1,2], [1,1], %s) {T=T, Tlen=int32, num_split=2}\n%s = S",
    "%y = UnsortedSegmentMax(T [1], [0], %s) {T=T, Tindices=int32, Tnumsegments=int32}\n%s = S",
    "%y = Bincount([1], %s, float [])\n%s = S",
    "%y = ResizeBilinear(float [[[[1]]]], %s) {T=float}\n%s = S",
    "%y = MatrixDiagV3(T [1], %s, %s, %s, T 0) {T=T}\n%s = S",
    "%y = NonMaxSuppressionV3(float [[0,0,1,1]], float [0.5], %s, 0.5, 0.5)\n%s = S",
    "%y = TensorListReserve(%s, %s) {element_dtype=T, shape_type=int32}\n%s = S",
    "%y = Substr(\"abc\", %s, %s) {T=int32}\n%s = S",
    "%y = Roll(T [1,2], %s, %s) {T=T, Tshift=int32, Taxis=int32}\n%s = S",
    "%y = RandomUniformInt([2], %s, %s) {T=int32, Tout=int32}\n%s = S",
};
constexpr const char* kTypes[] = {
    "%a = Const T [1,2]\n%y = AddV2(%a, %b) {T=T}\n%b = Const U [1,2]",
    "%a = Const T [1,2]\n%y = Neg(%a) {T=U}",
    "%a = Const T [1,2]\n%y = Cast(%a) {SrcT=U, DstT=T}",
    "%a = Const T [1,2]\n%y = Pack(%a, %b) {N=2, T=U, axis=0}\n%b = Const U [1,2]",
    "%a = Const T [1,2]\n%y = Select([true,false], %a, %b) {T=T}\n%b = Const U [1,2]",
    "%a = Const T [1,2]\n%y = Bitcast(%a) {T=U, type=T}",
    "%a = Const T [1,2]\n%n = IdentityN(%a, %a) {T=[T,U]}\n%y = Identity(%n:1) {T=U}",
    "%v = VarHandleOp {dtype=T, shape=[2], shared_name=\"v\"}\n%b = Const U [1,2]\n"
    "%i = AssignVariableOp(%v, %b) {dtype=U}\n%y = ReadVariableOp(%v, ^i) {dtype=T}",
    "%a = Const T [1,2]\n%y = Concat(%a, %a, %a) {N=2, T=T}",
    "%a = Const T [1,2]\n%y = StringJoin(%a, %a) {N=2}",
    "%a = Const T [1,2]\n%y = MatMul(%a, %a) {T=U}",
    "%a = Const T [1,2]\n%y = Reshape(%a, %b) {T=T, Tshape=U}\n%b = Const U [1,2]",
    "%a = Const T [1,2]\n%y = Sum(%a, %a) {T=T, Tidx=U}",
    "%l = TensorListReserve(int32 [], 2) {element_dtype=T, shape_type=int32}\n"
    "%y = TensorListGetItem(%l, 0, int32 []) {element_dtype=U}",
    "%q = FIFOQueueV2 {component_types=[T]}\n%b = Const U [1]\n"
    "%i = QueueEnqueueV2(%q, %b) {Tcomponents=[U]}\n"
    "%y = QueueDequeueV2(%q, ^i) {component_types=[T]}",
    "%a = Const T [1,2]\n%y = StridedSlice(%a, %b, %b, %b) {T=U, Index=U}\n%b = Const U [1]",
};
constexpr const char* kLoops[] = {
    "%y = Neg(%b) {T=T}\n%b = Abs(%y) {T=T}",
    "%y = AddV2(%y, %y) {T=T}",
    "%y = AddN(%a, %b) {N=2, T=T}\n%a = Neg(%y) {T=T}\n%b = Neg(%a) {T=T}",
    "%y = Neg(T 1, ^b) {T=T}\n%b = NoOp(^c)\n%c = NoOp(^y)",
    "%y = Const(^b) T 1\n%b = Neg(%y) {T=T}",
    "%y = Exit(T 1) {T=T}",
    "%y = Merge(%a, %n) {N=2, T=T}\n%a = Const T 1\n%n = Neg(%y) {T=T}",
    "%e = Enter(T 1) {T=T, frame_name=\"f\"}\n%f = Enter(%e) {T=T, frame_name=\"f\"}\n%y = Neg(%f) "
    "{T=T}",
    "%e = Enter(T 1) {T=T, frame_name=\"f\"}\n%f = Enter(T 2) {T=T, frame_name=\"g\"}\n"
    "%y = AddV2(%e, %f) {T=T}",
    "%y = NextIteration(%y) {T=T}",
    "%s = Switch(%y, true) {T=T}\n%y = Merge(%s, %s:1) {N=2, T=T}",
    "%y = LoopCond(%n)\n%n = LogicalNot(%y)",
    "%y = PartitionedCall(%a) {Tin=[int32], Tout=[int32], f=@direct}\n%a = Const int32 M",
};
constexpr const char* kEndless[] = {
    "%y = StatelessWhile(%a) {T=[int32], body=@same, cond=@always}\n%a = Const int32 M",
    "%y = While(%a) {T=[int32], body=@slow, cond=@always, parallel_iterations=M}\n%a = Const int32 "
    "M",
    "%y = PartitionedCall(%a) {Tin=[int32], Tout=[int32], f=@itself}\n%a = Const int32 M",
    "%y = StatelessIf(true, %a) {Tcond=bool, Tin=[int32], Tout=[int32], then_branch=@itself, "
    "else_branch=@same}\n%a = Const int32 M",
    "%e = Enter(%a) {T=int32, frame_name=\"f\", parallel_iterations=M}\n%a = Const int32 M\n"
    "%m = Merge(%e, %n) {N=2, T=int32}\n%c = LoopCond(%t)\n%t = GreaterEqual(%m, %m) {T=int32}\n"
    "%s = Switch(%m, %c) {T=int32}\n%n = NextIteration(%s:1) {T=int32}\n%y = Exit(%s) {T=int32}",
};
// NOLINTEND(bugprone-suspicious-missing-comma)
constexpr const char* kLibrary = R"(
func @same(%x: int32) -> (o: int32) {
  %n = Identity(%x)
  return %n
}
func @slow(%x: int32) -> (o: int32) {
  %n = PartitionedCall(%x) {Tin=[int32], Tout=[int32], f=@same}
  return %n
}
func @always(%x: int32) -> (o: bool) {
  %n = Equal(%x, %x) {T=int32}
  return %n
}
func @itself(%x: int32) -> (o: int32) {
  %n = StatelessIf(true, %x) {Tcond=bool, Tin=[int32], Tout=[int32], then_branch=@itself, else_branch=@same}
  return %n
}
)";

struct Kind {
  const char* name;
  llvm::ArrayRef<const char*> attacks;
};
const Kind kKinds[] = {{"sizes", kSizes},
                       {"scalars", kScalars},
                       {"types", kTypes},
                       {"loop", kLoops},
                       {"endless", kEndless}};

// Rejected in every place, so used only in this one.
constexpr const char* kDirect = R"(
func @direct(%x: int32) -> (o: int32) {
  %n = PartitionedCall(%x) {Tin=[int32], Tout=[int32], f=@direct}
  return %n
}
)";

constexpr const char* kNumbers[] = {"-1",
                                    "2147483648",
                                    "1099511627776",
                                    "4611686018427387904",
                                    "9223372036854775807",
                                    "-9223372036854775808",
                                    "3037000500",
                                    "1000000007",
                                    "-2147483649",
                                    "72057594037927936"};
constexpr const char* kInts[] = {"-1", "2147483647", "-2147483648", "1073741824", "65537"};
constexpr const char* kDtypes[] = {"float",    "double", "int32", "int64", "half",
                                   "bfloat16", "uint8",  "int16", "uint64"};
constexpr const char* kNoScalars[] = {"Const int32[0] []", "Const int32 [1,2]", "Const int32 [[1]]",
                                      "Const int32[0,3] []", "Const int32 [-1,2147483647,3]"};

// Replaces words of one capital letter; letters within names stay.
std::string FilledIn(Random& random, llvm::StringRef text) {
  std::string type = random.Of(kDtypes), other = random.Of(kDtypes), filled;
  for (size_t i = 0; i < text.size(); ++i) {
    auto is_word = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '%'; };
    bool begins = i == 0 || !is_word(text[i - 1]),
         ends = i + 1 == text.size() || !is_word(text[i + 1]);
    bool is_key = i + 1 < text.size() && text[i + 1] == '=';
    if (!begins || !ends || is_key) {
      filled += text[i];
      continue;
    }
    switch (text[i]) {
      case 'N':
        filled += random.Of(kNumbers);
        break;
      case 'I':
        filled += random.Of(kInts);
        break;
      case 'S':
        filled += random.Of(kNoScalars);
        break;
      case 'T':
        filled += type;
        break;
      case 'U':
        filled += other;
        break;
      case 'M':
        filled += std::to_string(1 + random.Below(40));
        break;
      default:
        filled += text[i];
    }
  }
  return filled;
}

std::string InFunction(llvm::StringRef nodes) {
  return llvm::formatv(
      "func @hidden(%counter: int32) -> (o: int32) {{\n{0}\n"
      "%result = AddV2(%counter, int32 1, ^y) {{T=int32}\nreturn %result\n}\n",
      nodes);
}

// Places the nodes as deep as real programs do.
std::string Placed(Random& random, const std::string& nodes) {
  switch (random.Below(5)) {
    case 0:
      return "%y = PartitionedCall(int32 1) {Tin=[int32], Tout=[int32], f=@hidden}\n" +
             InFunction(nodes);
    case 1:
      return "%y = StatelessIf(true, int32 1) {Tcond=bool, Tin=[int32], Tout=[int32], "
             "then_branch=@hidden, else_branch=@same}\n" +
             InFunction(nodes);
    case 2:
      return "%y = StatelessWhile(int32 1) {T=[int32], body=@hidden, cond=@below}\n"
             "func @below(%x: int32) -> (o: bool) {\n%n = Less(%x, int32 3) {T=int32}\n"
             "return %n\n}\n" +
             InFunction(nodes);
    default:
      return nodes + "\n";
  }
}

class Attacks {
 public:
  Attacks(uint64_t seed, bool is_verbose) : seed_(seed), is_verbose_(is_verbose) {}

  int Run(int of_each) {
    for (const Kind& kind : kKinds) {
      for (int i = 0; i < of_each; ++i) Attack(kind, i);
    }
    std::fprintf(runner_.report(), "%d graphs, %d runs, bad %d\n", graphs_, runs_, bad_);
    std::fclose(runner_.report());
    return bad_ ? 1 : 0;
  }

 private:
  void Attack(const Kind& kind, int number) {
    Random random(seed_ ^ (++graphs_ * 0x2545f4914f6cdd1d));
    size_t which = number % kind.attacks.size();
    std::string text =
        "fetch %y\n" + Placed(random, FilledIn(random, kind.attacks[which])) + kLibrary;
    if (llvm::StringRef(text).contains("@direct")) text += kDirect;
    std::ofstream("attack.gtxt") << text;
    std::string file = "attack.gtxt";
    static constexpr const char* kForms[] = {"attack.pb", "attack.pbtxt.gz", "attack.pbtxt"};
    if (!random.OneIn(3)) {
      std::string form = random.Of(kForms);
      if (Command(kind, text, {"convert", file, "-o", form}) == 0) file = form;
    }
    bool is_endless = llvm::StringRef(kind.name) == "endless";
    Command(kind, text, {"info", file});
    Command(kind, text, {"view", file, "-o", "x.html"});
    Command(kind, text, {"view", file, "-o", "x.dot", "--function", "all"});
    Command(kind, text, {"convert", file, "--to", "model-explorer", "-o", "x.json"});
    Command(kind, text, {"query", file, "SELECT count(*) FROM nodes"});
    Command(kind, text, {"place", file, "--devices", "cpu:2"});
    Command(kind, text, {"opt", file, "-o", "o.pb", "--fetch", "y"});
    Command(kind, text, {"run", file, "--fetch", "y", "--timeout", is_endless ? "0.2" : "5"});
    if (!is_endless) Command(kind, text, {"opt", file, "--check-values", "--fetch", "y"});
  }

  int Command(const Kind& kind, const std::string& text, std::vector<std::string> arguments) {
    std::string what = llvm::join(arguments, " ") + "\n" + text;
    arguments.insert(arguments.begin(), "grapnel");
    runner_.Announce(graphs_, std::string(kind.name) + ": " + what);
    CommandRunner::Outcome outcome = runner_.Run(arguments);
    ++runs_;
    bool only_reads = arguments[1] == "info" || arguments[1] == "view" || arguments[1] == "query" ||
                      arguments[1] == "convert";
    if (only_reads && outcome.code != 0 && outcome.fault.empty())
      outcome.fault = "a broken graph still opens: " + outcome.said;
    llvm::StringRef said = outcome.said;
    if (outcome.code == 2 && !said.contains("attack") && !said.contains("'"))
      outcome.fault = "names neither the file nor a node: " + outcome.said;
    if (!outcome.fault.empty()) ++bad_;
    if (is_verbose_ || !outcome.fault.empty())
      std::fprintf(runner_.report(), "%s %d: exit %d, %.2f s: %s\n%s\n%s\n", kind.name, graphs_,
                   outcome.code, outcome.seconds, outcome.fault.c_str(), what.c_str(),
                   outcome.said.c_str());
    return outcome.code;
  }

  uint64_t seed_;
  bool is_verbose_;
  CommandRunner runner_{int64_t{1} << 30};
  int graphs_ = 0, runs_ = 0, bad_ = 0;
};

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s SEED OF_EACH_KIND [-v]\n", argv[0]);
    return 2;
  }
  std::string scratch = (fs::temp_directory_path() / "attacks_XXXXXX").string();
  if (!mkdtemp(scratch.data()) || chdir(scratch.c_str()) != 0) return 2;
  int code = Attacks(std::strtoull(argv[1], nullptr, 10), argc > 3).Run(std::atoi(argv[2]));
  fs::current_path("/");
  fs::remove_all(scratch);
  return code;
}

}  // namespace
}  // namespace grapnel

int main(int argc, char** argv) { return grapnel::Main(argc, argv); }
