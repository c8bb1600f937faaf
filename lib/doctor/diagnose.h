// A job: runs the checks that an expert would do when a network does not learn.
#ifndef GRAPNEL_LIB_DOCTOR_DIAGNOSE_H_
#define GRAPNEL_LIB_DOCTOR_DIAGNOSE_H_

#include <string>
#include <vector>

#include "lib/doctor/doctor.h"
#include "lib/job/run.h"
#include "lib/support/glob.h"

namespace grapnel {

struct DoctorRequest {
  // The run to examine; its `hook`, `watch`, `device` and `devices` are ignored.
  RunRequest run;
  // The largest number of runs. A graph that neither trains nor reads iterators runs at most once
  // per batch.
  int steps = 5;
  std::vector<Glob> checks;                  // names of the checks to run; empty: all
  Confidence least = Confidence::kPossible;  // findings with less confidence are left out
  // The loss: a tensor of the main graph or, in event files, a tag; empty: it is searched for.
  std::string loss;
};

struct CheckOutcome {
  enum Status : uint8_t {
    kRun,
    kNothingThere,  // the graph has nothing to check
    kNotRun,        // what the check needs is missing
    kOtherInput,    // the check is for another kind of input (model or checkpoints)
  };
  const CheckInfo* info;
  Status status = kRun;
  std::string reason;  // why the check did not run; set unless status is kRun
};

struct Diagnosis {
  std::string path;
  std::vector<Finding> findings;       // from cause to consequence, highest confidence first
  std::vector<CheckOutcome> outcomes;  // one per requested check, sorted by name
  int steps = 0;                       // number of steps run
  size_t checkpoints = 0;
  size_t curves = 0;    // number of loss curves
  std::string failure;  // the error that ended the run; empty: none
  bool IsClean() const { return findings.empty() && failure.empty(); }
};

// Runs the graph if that is possible, at most `steps` times: on the request's feeds or, for a case,
// on those of its recorded steps in turn. Variables keep their values between steps. An error of
// the run is part of the Diagnosis. Errors: no check matches the request; the graph is broken; a
// name or a file does not exist.
Expected<Diagnosis> ExamineGraph(OpenedGraph& opened, const DoctorRequest& request);

// Examines the newest run in a debug folder of TensorFlow. Errors: those of ReadDebugFolder; no
// check matches the request.
Expected<Diagnosis> ExamineDebugFolder(llvm::StringRef path, const DoctorRequest& request);

// True if `path` is the output of a training run and not a model: the prefix of a checkpoint, its
// .index file, an event file with scalars, or a directory of such files.
bool IsTrainingRecord(llvm::StringRef path);
// Examines the checkpoints at `path` in the order of their numbers, and the scalars in its event
// files (of a directory, also those in its subdirectories). Errors: no check matches the request; a
// file cannot be read or is damaged; no scalar has the name given by the request.
Expected<Diagnosis> ExamineTrainingRecord(llvm::StringRef path, const DoctorRequest& request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_DIAGNOSE_H_
