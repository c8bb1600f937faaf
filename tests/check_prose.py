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
SKIPPED = ("testdata/", "tests/bench/peers/", "tests/fuzz/corpus/", "tests/fuzz/seeds/", "LICENSE", "tests/check_prose.py")

PHRASES = [(re.compile(pattern, re.I), advice) for pattern, advice in [
    (r"\b(nobody|somebody|everybody|whoever|whomever)\b", "name the caller, the user or the op, or use the passive"),
    (r"(?<!there )(?<!there )\b(is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|later\b|earlier\b|further\b|better\b|worse\b|larger\b|smaller\b|slower\b|faster\b|different\b)[a-z]",
     "'is not a ...', 'has no ...' or 'there is no ...'"),
    (r"(?<!there )\b(is|are|was|were|be) none\b", "'is not one' or 'there are none'"),
    (r"\b(for|to|by|of|from|with|as|than|and|or) who\b(?! (or|and))", "name them: 'for callers that ...', 'by the user'"),
    (r"\bof a kind that\b", "say what it does"),
    (r"\bwho (asks?|waits?|calls?|reads?|wants?|runs?) (?=for|of|it|this|a|the|no)", "name the caller"),
    (r"\bthe person who\b|\ba person who\b", "'the user'"),
    (r"\bmend(s|ed|ing)?\b", "'fix'"),
    (r"\bhow sure\b", "'confidence'"),
    (r"\blets? go of\b", "'releases'"),
    (r"\bhands? out\b", "'returns' or 'provides'"),
    (r"\bnear miss(es)?\b.{0,20}\bon the way\b", "'intermediate'"),
    (r"\bon which nobody\b|\bwhich nobody\b", "use the passive"),
    (r"\b(neighbour|colour|behaviour|favour|catalogue|licence|grey|centre|labelled|modelled)\w*", "American spelling"),
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
    """Yields (line number, prose, whether a comment begins there). Comments and string literals of code; all lines of documents."""
    if path.suffix in PROSE:
        fenced = False
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                yield number, line, False
        return
    mark = "//" if path.suffix in CODE or path.suffix == ".gtxt" else "#"
    begins = True
    for number, line in enumerate(text.splitlines(), 1):
        bare = STRING.sub(lambda match: " " * len(match[0]), line) if path.suffix != ".gtxt" else line
        at = bare.find(mark)
        if mark == "//" and at > 0 and bare[at - 1] == ":":
            at = -1
        if at >= 0 and not (mark == "#" and path.suffix in CODE):
            alone = not line[:at].strip()
            yield number, line[at + len(mark):].strip(), begins or not alone
            begins = not alone
        else:
            begins = True
        for match in STRING.finditer(line if at < 0 else line[:at]):
            yield number, match[1], False


def problems_of(path, text):
    for number, prose, begins in prose_of(path, text):
        prose = QUOTED.sub("``", prose)
        for pattern, advice in PHRASES + (OPENINGS if begins else []):
            if match := pattern.search(prose):
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


def main():
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
