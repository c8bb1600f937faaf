#include "lib/tfdbg/debug_tap.h"

namespace grapnel {

proto::TensorDebugMode DebugModeOf(TapMode mode) {
  switch (mode) {
    case TapMode::kNoTensor:
      return proto::NO_TENSOR;
    case TapMode::kCurtHealth:
      return proto::CURT_HEALTH;
    case TapMode::kConciseHealth:
      return proto::CONCISE_HEALTH;
    case TapMode::kFullHealth:
      return proto::FULL_HEALTH;
    case TapMode::kShape:
      return proto::SHAPE;
    case TapMode::kFullTensor:
      return proto::FULL_TENSOR;
  }
  return proto::UNSPECIFIED;
}

}  // namespace grapnel
