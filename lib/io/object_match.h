// Objects of a model beside those of a checkpoint. For lib/io/variable_binding.cpp.
#ifndef GRAPNEL_LIB_IO_OBJECT_MATCH_H_
#define GRAPNEL_LIB_IO_OBJECT_MATCH_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/proto/saved_object_graph.pb.h"
#include "lib/proto/trackable_object_graph.pb.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Objects are the same where the same names lead to them, from the model's root and from the
// checkpoint's: that is how TensorFlow restores. Where the checkpoint has another root, as of
// tf.train.Checkpoint(model=...), the model is the object of the checkpoint from which names lead
// to the most of its variables; then parts of the model are looked for that were found nowhere,
// each as a whole and in places that are nobody's. Slots of optimizers go by the variable that they
// belong to.
class ObjectMatch {
 public:
  // `fits`: whether the value under a key of the checkpoint may be that of the variable. Time: as
  // many walks of the model as the checkpoint has objects with children of the same names, up to a
  // limit.
  using Fits = std::function<bool(const proto::SavedVariable& variable, const std::string& key)>;
  ObjectMatch(const proto::SavedObjectGraph& saved, const proto::TrackableObjectGraph& stored,
              Fits fits);
  ~ObjectMatch();

  // What is known of an object of the model.
  struct Found {
    std::vector<std::string> keys;  // in the checkpoint; several: equally good places hold it
    int rival = -1;                 // another object that the same value may belong to
  };
  const Found& Of(int object) const { return found_[object]; }  // by its number

 private:
  class Finder;
  std::vector<Found> found_;
};

// The key of a checkpoint's object, if it is a variable; else empty.
std::string VariableKeyOf(const proto::TrackableObjectGraph::TrackableObject& object);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_OBJECT_MATCH_H_
