"""lit: runs the RUN lines of tests/**/*.gtxt, *.pbtxt and *.test. Paths come from tests/CMakeLists.txt as --param."""

import os
import shutil

import lit.formats

config.name = "grapnel"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".gtxt", ".pbtxt", ".test"]
config.excludes = ["bench", "fuzz", "inputs", "python"]  # inputs/: files that tests read
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["out"]
# Documents of --json are kept, for check_documents.py.
documents = os.path.join(config.test_exec_root, "documents")
recorder = os.path.join(config.test_exec_root, "recorder")
for folder in (documents, recorder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
os.symlink(os.path.join(config.test_source_root, "record_documents.sh"), os.path.join(recorder, "grapnel"))
config.environment["GRAPNEL_BINARY"] = os.path.join(lit_config.params["bin"], "grapnel")
config.environment["GRAPNEL_DOCUMENTS"] = documents
# "--onednn auto" is not left to the processor.
config.environment["TF_ENABLE_ONEDNN_OPTS"] = "1"
config.environment["XDG_CACHE_HOME"] = os.path.join(lit_config.params["out"], "cache")
config.environment["PATH"] = os.pathsep.join(
    [recorder, lit_config.params["bin"], lit_config.params["llvm"], config.environment["PATH"]]
)
if "ASAN_OPTIONS" not in os.environ:
    config.available_features.add("release")  # REQUIRES: release = a sanitizer would find nothing
# A program that a sanitizer or LeakSanitizer ends aborts, so that `not` does not take it for one that says no.
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name] + ":abort_on_error=1"
config.substitutions.append(
    ("%testdata", os.path.join(os.path.dirname(config.test_source_root), "testdata"))
)
# Plugins of tests/library.
config.substitutions.append(("%plugins", os.path.join(os.path.dirname(lit_config.params["bin"]), "plugins")))
for name in ("LSAN_OPTIONS", "TSAN_OPTIONS", "OMP_NUM_THREADS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
shared = os.path.join(os.path.dirname(config.test_source_root), "..", "shared")
if os.path.isdir(os.path.join(shared, "ops")):
    config.available_features.add("shared")  # graphs that are not in the repository
    config.substitutions.append(("%shared", os.path.realpath(shared)))
if os.environ.get("GRAPNEL_FULL"):
    config.available_features.add("full")  # REQUIRES: full = only in ./x test --full
if os.path.exists(os.path.join(lit_config.params["bin"], "grapnel_cuda_emulated.so")):
    config.available_features.add("emulated-gpu")  # built where CUDA is, see tests/cuda/emulated
    config.substitutions.append(("%gpu", "env GRAPNEL_CUDA=" + os.path.join(lit_config.params["bin"], "grapnel_cuda_emulated.so")))
