#!/usr/bin/env python3
"""Finds phrases that slow a reader down, in comments, messages, help texts and docs, and private names at their declaration.

  check_prose.py [PATH...]     prints each phrase with what to write instead; exit 1 when there is one. Default: every tracked file
  check_prose.py --self-test   plants sentences and names, and shows that each is found

Prose is plain, active and specific: a subject that acts, the field's own terms, American spelling. Text between backquotes is a
quotation and passes.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = {".h", ".cpp", ".cc", ".cu", ".cuh", ".inc", ".js"}
HASHED = {".py", ".sh", ".cmake", ".toml", ".yml"}
PROSE = {".md"}
# Recordings of TensorFlow, of its messages and of other programs: they say what was said.
SKIPPED = ("testdata/", "tests/bench/peers/", "tests/fuzz/corpus/", "tests/fuzz/seeds/", "LICENSE", "tests/check_prose.py", "tests/same_documents.py")

PHRASES = [(re.compile(pattern, re.I), advice) for pattern, advice in [
    (r"\b(nobody|somebody|everybody|whoever|whomever)\b", "name the caller, the user or the op, or use the passive"),
    (r"(?<!there )(?<!there )\b(is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|later\b|earlier\b|further\b|better\b|worse\b|larger\b|smaller\b|slower\b|faster\b|different\b)[a-z]",
     "'is not a ...', 'has no ...' or 'there is no ...'"),
    (r"(?<!there )\b(is|are|was|were|be) (?-i:none)\b", "'is not one' or 'there are none'"),
    (r"\b(for|to|by|of|from|with|as|than|and|or) who\b(?! (or|and))", "name them: 'for callers that ...', 'by the user'"),
    (r"\bof a kind that\b", "say what it does"),
    (r"\bthe person who\b|\ba person who\b", "'the user'"),
    (r"\bmend(s|ed|ing)?\b", "'fix'"),
    (r"\bhow sure\b", "'confidence'"),
    (r"\blets? go of\b", "'releases'"),
    (r"\bhands? out\b", "'returns' or 'provides'"),
    (r"\bnear miss(es)?\b.{0,20}\bon the way\b", "'intermediate'"),
    (r"\bon which nobody\b|\bwhich nobody\b", "use the passive"),
    (r"\b(neighbour|colour|behaviour|favour|catalogue|licence|centre|labelled|modelled)\w*", "American spelling"),
    (r"(?<=.)\bgrey\b|\bgrey\b(?=.)", "American spelling"),  # alone, it is a color of style sheets
    (r"\b(normal|optim|recogn|initial|quant|vector|summar|special|serial|general|regular|random|organ|minim|maxim|synchron|util|local|real)is(e|es|ed|ing|ation|er|ers)\b",
     "American spelling"),
    (r"\banalys(e|es|ed|ing)\b(?! )", "American spelling"),
]]
# At the start of a comment, where a noun phrase says at once what the thing is.
OPENINGS = [(re.compile(pattern), advice) for pattern, advice in [
    (r"^(What|Who|Whom|Of) ", "begin with what the thing is: 'The ...', 'Returns ...', 'True if ...'"),
]]
# Private names and, where the word has another meaning elsewhere, the directory in which it is one.
TYPES = (
    "Sureness Patient Watchlist Parting PartingCause HowToMend Workshop LeftUndone GivenSizes SameNodes Likeness Caution Telling Ballot "
    "Surroundings Twins Tie StayingCalls Manner Harm Pitfall Stepped Admission ForgottenPage LineKeeper ToldTap RulesInPlaces Ending "
    "RunWords PlacerWords").split()
LOCAL_TYPES = {"Reach": "lib/diff", "Trust": "lib/diff", "Crossing": "lib/place", "Fate": "lib/", "Lane": "lib/serve", "Team": "kernels/cpu/onednn",
               "Meeting": "kernels/cpu/array", "Where": "lib/trace"}
FUNCTIONS = (
    "HasParted HowToMend WithoutValues LeaveOutValues RefuseStranger SendOneAway Welcome LoseTrack TellLostReaders BarDangerous PaintBetween "
    "PaintFollowers PaintThroughClear InsteadOfConstant StandsFor WithWhatIsLive FindLeftUndone FindStayingCalls").split()
KEYWORDS = r"\b(?:class|struct|enum class|enum|using)\s+(?:GRAPNEL_PUBLIC\s+)?"
NAMES = [(re.compile(pattern), advice, where) for pattern, advice, where in [
    (KEYWORDS + r"(%s)\b" % "|".join(TYPES), "a private word", ""),
    *((KEYWORDS + r"(%s)\b(?!;)" % word, "a private word", where) for word, where in LOCAL_TYPES.items()),
    (r"\b(%s)\(" % "|".join(FUNCTIONS), "a private word", ""),
    (r"\b((?:Demand|Tell|LookAt|HandOut|LetGo)[A-Z]\w*)\(", "'Check...', 'Report...', 'Emit...', 'Release...'", ""),
    (r"\b(UNHURRIED|THIN_CODE|isBlurred|untold|in_sight|how_sure)\b", "a private word", ""),
]]
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
QUOTED = re.compile(r"`[^`]*`")


def prose_of(path, text):
    """Yields (lines, whether it is a comment) of each comment, string literal or paragraph; lines: [(number, text)]."""
    block = []
    if path.suffix in PROSE:
        fenced = False
        for number, line in enumerate(text.splitlines() + [""], 1):
            is_fence = line.lstrip().startswith("```")
            fenced ^= is_fence
            if fenced or is_fence or not line.strip():
                yield block, False
                block = []
            else:
                block.append((number, line.strip()))
        return
    mark = "//" if path.suffix in CODE else "#"
    for number, line in enumerate(text.splitlines() + [""], 1):
        bare = STRING.sub(lambda match: " " * len(match[0]), line)
        at = bare.find(mark)
        if at > 0 and bare[at - 1] == ":":
            at = -1
        if at < 0 or line[:at].strip():
            yield block, True
            block = []
        if at >= 0:
            block.append((number, line[at + len(mark):].strip()))
        for match in STRING.finditer(line if at < 0 else line[:at]):
            if "// deprecated" not in line:  # a key that JSON keeps for one format version
                yield [(number, match[1])], False
    yield block, True


def problems_of(path, text):
    for lines, is_comment in prose_of(path, text):
        prose = QUOTED.sub(lambda match: "`" * len(match[0]), " ".join(line for _, line in lines))
        for pattern, advice in PHRASES + (OPENINGS if is_comment else []):
            for match in pattern.finditer(prose):
                at, number = match.start(), 0
                for number, line in lines:
                    if at <= len(line):
                        break
                    at -= len(line) + 1
                yield number, match[0].strip(), advice
    if path.suffix in CODE or path.suffix in {".cmake"} or path.name == "CMakeLists.txt":
        for number, line in enumerate(text.splitlines(), 1):
            code = line.split("//")[0]
            for pattern, advice, where in NAMES:
                if str(path).startswith(where) and (match := pattern.search(code)):
                    yield number, match[1], advice


def tracked(paths):
    names = subprocess.run(["git", "ls-files", "--", *paths], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in names:
        path = pathlib.Path(name)
        known = path.suffix in CODE | HASHED | PROSE | {".test", ".gtxt"} or path.name in {"CMakeLists.txt", "x"}
        if known and not name.startswith(SKIPPED):
            yield path


# Each with a file that it could be in: every one must be found.
PLANTED = [
    ("a.cpp", "// Nobody reads this output."), ("a.cpp", "// Whoever calls it owns the buffer."), ("a.h", "// Somebody else frees it."),
    ("a.cpp", "  return 1;  // everybody waits for it"), ("a.cpp", 'Fail("{0} is no valid graph");'), ("a.cpp", 'Fail("a fetch is no text");'),
    ("a.cpp", "// The node is no constant."), ("a.h", "// Those that are no variables."), ("a.cpp", "// Null if the name is none of them."),
    ("a.cpp", 'Fail("one that is none");'), ("a.h", "// A line for who waits longer."), ("a.h", "// Says which pass runs, to who waits."),
    ("a.h", "// Set by who runs it."), ("a.h", "// Of a kind that TensorFlow does not have."), ("a.h", "// What the user gave."),
    ("a.h", "// What is told of each node."), ("a.h", "// Of each node: its inputs."), ("a.h", "// Who owns the values."),
    ("a.cpp", "  int n;  // What is left."), ("a.h", "// The words that a person who types them sees."), ("a.cpp", 'Print("to mend it: ");'),
    ("a.cpp", "// Mended by the next pass."), ("a.h", "// How sure the check is."), ("a.h", "// The file lets go of its pages."),
    ("a.h", "// Hands out the next name."), ("a.md", "Whoever opens the page sees it."), ("a.md", "A model that is no SavedModel is refused."),
    ("a.md", "The colour of a node."), ("a.py", "# Nobody else writes this file."), ("a.py", 'parser.error("this is no number")'),
    ("a.py", "# the behaviour of the optimizer"), ("a.cpp", "// Neighbours of the node."), ("a.cpp", "// The optimised graph."),
    ("a.cpp", "// The normalisation of a batch."), ("a.test", "# Nobody reads the constant."), ("a.gtxt", "# What is fetched stays."),
    ("a.h", "enum class Sureness { kCertain };"), ("a.h", "struct GRAPNEL_PUBLIC GivenSizes {"), ("a.h", "Error DemandValid(const Graph& graph);"),
    ("lib/place/a.h", "struct Crossing {"), ("a.cpp", "void LookAtOps(int model) {"), ("a.cmake", "set(GRAPNEL_UNHURRIED -O0) # UNHURRIED"),
    ("a.js", "// Nobody has asked for it."), ("a.js", 'link("neighbours")'),
]
PASSING = [
    ("a.cpp", "// There is no such node."), ("a.cpp", 'Fail("there are none");'), ("a.cpp", "// The output is no longer read."),
    ("a.h", "// The user who runs it."), ("a.md", "`nobody` is the name of a user."), ("a.cpp", "std::string who = Reader(what);"),
    ("a.h", "// Returns what the user gave."), ("lib/render/a.h", "struct Crossing {"), ("a.cpp", "// A promise is kept."),
]


def self_test():
    def is_found(name, line):
        return any(True for _ in problems_of(pathlib.Path(name), line + "\n"))
    missed = [line for name, line in PLANTED if not is_found(name, line)]
    wrong = [line for name, line in PASSING if is_found(name, line)]
    for line in missed:
        print("not found:", line)
    for line in wrong:
        print("found, and is right:", line)
    print(f"{len(PLANTED) - len(missed)} of {len(PLANTED)} planted sentences found, {len(PASSING) - len(wrong)} of {len(PASSING)} others pass")
    return 1 if missed or wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = 0
    for path in tracked(sys.argv[1:]):
        if not (ROOT / path).exists():
            continue
        for number, phrase, advice in problems_of(path, (ROOT / path).read_text(errors="replace")):
            print(f"{path}:{number}: {phrase!r}: {advice}")
            found += 1
    if found:
        print(f"{found} phrases")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
