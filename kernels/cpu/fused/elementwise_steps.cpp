#include "kernels/cpu/fused/elementwise_steps.h"

#include <algorithm>
#include <numeric>

#include "kernels/cpu/array/data_move.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using Step = ElementwiseStep;
using Operand = ElementwiseStep::Operand;

constexpr int64_t kBlock = 2048;          // elements
constexpr int64_t kWorthOnePass = 4096;   // elements: below, separate steps are as fast
constexpr int64_t kShortestRow = 32;      // elements
constexpr int64_t kLongestCycle = 32768;  // elements of a repeated operand
constexpr int64_t kLanes = kSmallFloatLanes;

// How a step reads an operand, with lengths in elements of the result.
struct Source {
  enum Kind {
    kAll,     // one element per element of the result
    kOne,     // a single element
    kCycle,   // repeats every `cycle` elements, written out in full
    kColumn,  // one element for every `cycle` elements of the result
    kBuffer   // the block of another step
  };
  Kind kind = kAll;
  const char* data = nullptr;  // null for a buffer
  int buffer = 0;
};

struct Pass {
  int64_t total = 0, cycle = kBlock;  // in elements; blocks do not cross the end of a cycle
  struct Work {
    const Step* step = nullptr;
    Source operands[2];
    int buffer = -1;  // -1: the result
  };
  llvm::SmallVector<Work, 8> work;
  int buffers = 0;
  double cost = 0;                       // per element
  llvm::SmallVector<Tensor, 4> written;  // repeated operands, written out
};

// One execution of the fused steps.
class Run {
 public:
  Run(KernelContext& ctx, llvm::ArrayRef<Step> steps, DataType dtype)
      : ctx_(ctx),
        steps_(steps),
        dtype_(dtype),
        size_(static_cast<int64_t>(DataTypeSize(dtype))),
        values_(steps.size()),
        buffer_of_(steps.size(), -1) {}

  Error OneByOne() {
    for (size_t i = 0; i < steps_.size(); ++i) RETURN_IF_ERROR(RunAlone(i, true));
    ctx_.SetOutput(0, std::move(values_.back()));
    return Error::success();
  }

  // False if the steps must run one by one, or if one pass would not pay off.
  Expected<bool> InOnePass() {
    int64_t most = 0;
    for (int i = 0; i < ctx_.num_inputs(); ++i)
      most = std::max(most, ctx_.input(i) ? ctx_.input(i).num_elements() : 0);
    if (most < kWorthOnePass || !FindShapes()) return false;
    const Dims full = dims_.back();
    Pass pass;
    pass.total = NumElements(full).value_or(0);  // if too large, the step itself reports the error
    if (pass.total == 0) return false;
    auto is_full = [&](const Dims& dims) { return dims == full; };
    if (llvm::count_if(dims_, is_full) < 2) return false;
    if (!FindCycle(full, pass)) return false;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!is_full(dims_[i])) RETURN_IF_ERROR(RunAlone(i, false));
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!is_full(dims_[i])) continue;
      if (Error error = AddWork(i, full, pass)) return Annotate(steps_[i].name, std::move(error));
    }
    pass.work.back().buffer = -1;
    auto out = Output(full);
    if (!out) return Annotate(steps_.back().name, out.takeError());
    RunPass(pass, static_cast<char*>((*out)->raw()));
    return true;
  }

 private:
  const Tensor& ValueOf(const Operand& operand) const {
    return operand.is_step ? values_[operand.index] : ctx_.input(operand.index);
  }
  llvm::ArrayRef<int64_t> DimsOf(const Operand& operand) const {
    if (operand.is_step) return dims_[operand.index];
    return ctx_.input(operand.index).dims();
  }

  // Stores the result in values_[i]. With may_take, releases operands at their last use, so that
  // their memory can be reused.
  Error RunAlone(size_t i, bool may_take) {
    const Step& step = steps_[i];
    llvm::SmallVector<Tensor, 2> inputs;
    for (const Operand& operand : step.operands) {
      bool takes = may_take && operand.is_last;
      if (operand.is_step)
        inputs.push_back(takes ? std::move(values_[operand.index]) : values_[operand.index]);
      else
        inputs.push_back(takes ? ctx_.TakeInput(operand.index) : ctx_.input(operand.index));
    }
    KernelContext alone(inputs, values_[i], dtype_, ctx_.services());
    Error error = step.kernel.Call(alone);
    return error ? Annotate(step.name, std::move(error)) : Error::success();
  }

  // Fills in dims_ of each step. False if an input is missing or has another dtype, or if shapes do
  // not match.
  bool FindShapes() {
    for (int i = 0; i < ctx_.num_inputs(); ++i) {
      if (!ctx_.input(i) || ctx_.input(i).dtype() != dtype_) return false;
    }
    for (const Step& step : steps_) {
      llvm::ArrayRef<int64_t> a = DimsOf(step.operands[0]);
      Dims dims(a.begin(), a.end());
      if (step.operands.size() > 1) {
        llvm::ArrayRef<int64_t> b = DimsOf(step.operands[1]);
        if (step.shapes == Step::Shapes::kEqual && a != b) return false;
        if (step.shapes == Step::Shapes::kBias &&
            (a.size() < 2 || b.size() != 1 || a.back() != b.back()))
          return false;
        if (a.size() < b.size()) dims.insert(dims.begin(), b.size() - a.size(), 1);
        for (size_t d = dims.size(), k = b.size(); k > 0;) {
          int64_t& dim = dims[--d];
          if (dim == 1)
            dim = b[--k];
          else if (b[--k] != 1 && b[k] != dim)
            return false;
        }
      }
      dims_.push_back(std::move(dims));
    }
    return true;
  }

  // The dimensions [first, end) of the result that an operand smaller than the result covers: its
  // other dimensions are 1.
  struct Extent {
    size_t first, end;
    bool is_dense;  // within [first, end) it has the result's full size
  };
  static Extent ExtentOf(llvm::ArrayRef<int64_t> dims, const Dims& full) {
    size_t skip = full.size() - dims.size();
    Extent extent{full.size(), 0, true};
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == 1) continue;
      extent.first = std::min(extent.first, skip + d);
      extent.end = skip + d + 1;
    }
    for (size_t d = extent.first; d < extent.end; ++d) extent.is_dense &= dims[d - skip] == full[d];
    return extent;
  }
  static int64_t CountFrom(const Dims& full, size_t d) {
    int64_t count = 1;
    for (; d < full.size(); ++d) count *= full[d];
    return count;
  }
  // A column is an operand that covers all dimensions of the result except trailing ones.
  static bool IsColumn(const Extent& extent, const Dims& full) {
    if (!extent.is_dense || extent.end == full.size()) return false;
    int64_t before = 1;
    for (size_t d = 0; d < extent.first; ++d) before *= full[d];
    return before == 1 && CountFrom(full, extent.end) > 1;
  }

  Source::Kind KindOf(llvm::ArrayRef<int64_t> dims, const Dims& full) const {
    if (dims == llvm::ArrayRef<int64_t>(full)) return Source::kAll;
    Extent extent = ExtentOf(dims, full);
    if (extent.end == 0) return Source::kOne;
    if (extent.is_dense && CountFrom(full, extent.first) == CountFrom(full, 0) &&
        CountFrom(full, extent.end) == 1)
      return Source::kAll;  // equal up to dimensions of size 1
    return IsColumn(extent, full) ? Source::kColumn : Source::kCycle;
  }

  // Sets pass.cycle: the number of elements after which every repeated operand of the full-size
  // steps starts again or, if there is a column, for which the column has one value. Leaves it
  // unchanged if there are neither. False if no length fits all operands, or if it is too short or
  // too long to pay off.
  bool FindCycle(const Dims& full, Pass& pass) const {
    int64_t row = 0, period = 1;
    llvm::SmallVector<int64_t, 8> periods;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (dims_[i] != full) continue;
      for (const Operand& operand : steps_[i].operands) {
        llvm::ArrayRef<int64_t> dims = DimsOf(operand);
        Source::Kind kind = KindOf(dims, full);
        Extent extent = ExtentOf(dims, full);
        if (kind == Source::kColumn) {
          int64_t n = CountFrom(full, extent.end);
          if (row != 0 && row != n) return false;
          row = n;
        } else if (kind == Source::kCycle) {
          periods.push_back(CountFrom(full, extent.first));
          period = std::max(period, periods.back());
        }
      }
    }
    if (llvm::any_of(periods, [&](int64_t p) { return period % p != 0; })) return false;
    if (row != 0) {
      pass.cycle = row;
      return row % period == 0 && row % kLanes == 0 && row >= kShortestRow;
    }
    if (periods.empty()) return true;
    int64_t whole = std::lcm(period, kLanes);
    pass.cycle = std::max<int64_t>(1, kBlock / whole) * whole;
    return pass.cycle <= kLongestCycle;
  }

  Error AddWork(size_t i, const Dims& full, Pass& pass) {
    const Step& step = steps_[i];
    Pass::Work work;
    work.step = &step;
    for (size_t k = 0; k < step.operands.size(); ++k) {
      const Operand& operand = step.operands[k];
      if (operand.is_step && dims_[operand.index] == full) {
        work.operands[k].kind = Source::kBuffer;
        work.operands[k].buffer = buffer_of_[operand.index];
        continue;
      }
      const Tensor& value = ValueOf(operand);
      work.operands[k].kind = KindOf(value.dims(), full);
      work.operands[k].data = static_cast<const char*>(value.raw());
      if (work.operands[k].kind == Source::kCycle)
        RETURN_IF_ERROR(WriteOut(value, full, pass, work.operands[k]));
    }
    // The step writes its result into the buffer of an operand that no later step reads, else into
    // a new one.
    work.buffer = -1;
    for (size_t k = 0; k < step.operands.size(); ++k) {
      if (work.operands[k].kind == Source::kBuffer && step.operands[k].is_last)
        work.buffer = work.operands[k].buffer;
    }
    if (work.buffer < 0) work.buffer = pass.buffers++;
    buffer_of_[i] = work.buffer;
    pass.cost += step.cost;
    pass.work.push_back(work);
    return Error::success();
  }

  // Writes the elements of a repeated operand out in full, for one cycle.
  Error WriteOut(const Tensor& value, const Dims& full, Pass& pass, Source& source) {
    Extent extent = ExtentOf(value.dims(), full);
    size_t skip = full.size() - value.dims().size();
    int64_t period = CountFrom(full, extent.first);
    Dims sizes = {pass.cycle / period}, strides = {0};
    Dims own = RowMajorStrides(value.dims());
    for (size_t d = extent.first; d < full.size(); ++d) {
      sizes.push_back(full[d]);
      strides.push_back(value.dim(static_cast<int>(d - skip)) == 1 ? 0 : own[d - skip]);
    }
    ASSIGN_OR_RETURN(Tensor written, ctx_.Scratch(dtype_, {pass.cycle}));
    CopyStrided(ctx_, dtype_, sizes, value.raw(), strides, written.raw(), RowMajorStrides(sizes));
    source.data = static_cast<const char*>(written.raw());
    pass.written.push_back(std::move(written));
    return Error::success();
  }

  Expected<Tensor*> Output(const Dims& full) {
    for (int i = 0; i < ctx_.num_inputs(); ++i) {
      const Tensor& input = ctx_.input(i);
      if (input.dims() == llvm::ArrayRef<int64_t>(full) && input.OwnsAlone())
        return ctx_.ForwardOrAllocate(i, 0, full);
    }
    return ctx_.Allocate(0, full);
  }

  void RunPass(const Pass& pass, char* out) {
    int64_t cycles = (pass.total + pass.cycle - 1) / pass.cycle;
    ctx_.ParallelFor(cycles, pass.cost * static_cast<double>(pass.cycle),
                     [&](int64_t begin, int64_t end) {
                       static thread_local std::vector<char> memory;
                       memory.resize(pass.buffers * kBlock * size_ + 64);
                       auto address = reinterpret_cast<uintptr_t>(memory.data());
                       char* buffers = memory.data() + (64 - address % 64) % 64;
                       for (int64_t cycle = begin; cycle < end; ++cycle) {
                         int64_t first = cycle * pass.cycle;
                         int64_t last = std::min(first + pass.cycle, pass.total);
                         for (int64_t at = first; at < last; at += kBlock)
                           RunBlock(pass, cycle, at, std::min(kBlock, last - at), buffers, out);
                       }
                     });
  }

  void RunBlock(const Pass& pass, int64_t cycle, int64_t at, int64_t n, char* buffers,
                char* out) const {
    auto buffer = [&](int i) { return buffers + i * kBlock * size_; };
    for (const Pass::Work& work : pass.work) {
      const char* from[2] = {nullptr, nullptr};
      RowSide side = RowSide::kBoth;
      for (size_t k = 0; k < work.step->operands.size(); ++k) {
        const Source& source = work.operands[k];
        switch (source.kind) {
          case Source::kAll:
            from[k] = source.data + at * size_;
            break;
          case Source::kCycle:
            from[k] = source.data + (at - cycle * pass.cycle) * size_;
            break;
          case Source::kBuffer:
            from[k] = buffer(source.buffer);
            break;
          case Source::kColumn:
          case Source::kOne:
            from[k] = source.data + (source.kind == Source::kOne ? 0 : cycle * size_);
            side = k == 0 ? RowSide::kLeftOne : RowSide::kRightOne;
            break;
        }
      }
      char* to = work.buffer < 0 ? out + at * size_ : buffer(work.buffer);
      const Step& step = *work.step;
      if (step.unary)
        step.unary(from[0], to, n);
      else if (step.binary)
        step.binary(from[0], from[1], to, n, side);
      else
        step.leaky_relu(from[0], to, n, step.alpha);
    }
  }

  KernelContext& ctx_;
  llvm::ArrayRef<Step> steps_;
  DataType dtype_;
  int64_t size_;
  llvm::SmallVector<Tensor, 8> values_;  // by step, for steps that ran alone
  llvm::SmallVector<Dims, 8> dims_;
  llvm::SmallVector<int, 8> buffer_of_;  // by step, for the others
};

}  // namespace

KernelFn ElementwiseKernel(std::vector<ElementwiseStep> steps, DataType dtype) {
  return KernelFn([steps = std::move(steps), dtype](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(bool done, Run(ctx, steps, dtype).InOnePass());
    return done ? Error::success() : Run(ctx, steps, dtype).OneByOne();
  });
}

}  // namespace grapnel
