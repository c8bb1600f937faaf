"""Runs what docs/examples/ci says: the commands of the workflow, of pre-commit's configuration and of the hook, in a repository with a
model that passes its policy and then does not.

usage: ci_examples.py ROOT FOLDER      `grapnel` is on PATH
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

GOOD = "%x = Placeholder {dtype=float, shape=[2,4]}\n%y = Relu(%x)\n"
BAD = "%x = Placeholder {dtype=float, shape=[2,4]}\n%wide = Cast(%x) {DstT=double}\n%narrow = Cast(%wide) {DstT=float}\n%y = Relu(%narrow)\n"


def run(command, folder, **environment):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, **environment})


def git(folder, *arguments, **environment):
    return run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], folder, **environment)


def write_model(folder, text):
    path = os.path.join(folder, "models/model.gtxt")
    with open(path, "w") as f:
        f.write(text)
    done = run(["grapnel", "convert", path, "-o", path.replace("gtxt", "pb"), "-q"], folder)
    assert done.returncode == 0, done.stderr
    os.remove(path)


def change_variables(repository):
    """Other values of the SavedModel's variables."""
    with open(os.path.join(repository, "models/model/variables/variables.data-00000-of-00001"), "r+b") as f:
        f.write(b"\x01\x02\x03\x04")


def make_repository(root, folder):
    os.makedirs(os.path.join(folder, "models"))
    os.makedirs(os.path.join(folder, "ci"))
    write_model(folder, GOOD)
    shutil.copytree(os.path.join(root, "testdata/keras/model"), os.path.join(folder, "models/model"))
    run(["chmod", "-R", "u+w", "models/model"], folder)
    policy = run(["grapnel", "check", "models/model.pb", "--init"], folder).stdout
    with open(os.path.join(folder, "policy.toml"), "w") as f:
        f.write(re.sub(r"most = \d+", "most = 100000", policy))
    git(folder, "init", "--quiet", "--initial-branch=main", ".")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "before")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")


def make_tarball(folder):
    """In the package's form, with a link to what is tested."""
    top = os.path.join(folder, "..", "grapnel-0")
    os.makedirs(top)
    os.symlink(os.path.dirname(shutil.which("grapnel")), os.path.join(top, "bin"))
    run(["tar", "-cJf", os.path.join(folder, "ci/grapnel.tar.xz"), "grapnel-0"], os.path.join(folder, ".."))


def steps(workflow):
    """Name and shell script of each step that has one."""
    with open(workflow) as f:
        text = f.read()
    for match in re.finditer(r"^      - name: (.*)\n(?:        if: .*\n)?        run: (?:\|\n((?:          .*\n)+)|(.*)\n)", text, re.M):
        yield match[1], match[2] or match[3]


def run_workflow(root, folder, model):
    """The first step that fails, and what it printed."""
    runner = os.path.join(folder, "..", "runner")
    for left in (runner, os.path.join(folder, "base")):
        shutil.rmtree(left, ignore_errors=True)
    os.makedirs(runner)
    environment = {"MODEL": model, "RUNNER_TEMP": runner, "GITHUB_PATH": os.path.join(runner, "path"), "GITHUB_BASE_REF": "main",
                   "GITHUB_STEP_SUMMARY": os.path.join(runner, "summary.md")}
    failed = None
    for name, script in steps(os.path.join(root, "docs/examples/ci/grapnel-check.yml")):
        done = run(["bash", "-e", "-c", script], folder, **environment)
        if done.returncode and not failed:
            failed = name, done.stdout + done.stderr
        if os.path.exists(environment["GITHUB_PATH"]):
            with open(environment["GITHUB_PATH"]) as f:
                environment["PATH"] = f.read().strip() + os.pathsep + os.environ["PATH"]
    with open(environment["GITHUB_STEP_SUMMARY"]) as f:
        return failed, f.read()


def model_of_workflow(root):
    with open(os.path.join(root, "docs/examples/ci/grapnel-check.yml")) as f:
        return re.search(r"^  MODEL: (\S+)", f.read(), re.M)[1]


def wrong_folder(root, repository):
    """The model that the workflow names is a SavedModel: what BASE says of its values and its signatures has to be there."""
    model = model_of_workflow(root)
    with open(os.path.join(repository, "policy.toml")) as f:
        own = f.read()
    with open(os.path.join(repository, "policy.toml"), "w") as f:
        f.write("[signatures]\n[changed_weights]\n")
    failed, summary = run_workflow(root, repository, model)
    if failed or "nothing found" not in summary or "same as BASE" not in summary:
        yield f"workflow, a folder: {failed}, {summary}"
    change_variables(repository)
    failed, summary = run_workflow(root, repository, model)
    if not failed or failed[0] != "Check" or "weights only" not in summary or "changed\\_weights" not in summary:
        yield f"workflow, a folder with other variables: {failed}, {summary}"
    git(repository, "checkout", "--quiet", model)
    with open(os.path.join(repository, "policy.toml"), "w") as f:
        f.write(own)


def pre_commit_entry(root):
    with open(os.path.join(root, "docs/examples/ci/pre-commit-config.yaml")) as f:
        return shlex.split(re.search(r"^ +entry: (.*)$", f.read(), re.M)[1])


def wrong_hook(root, repository):
    """What the hook lets pass, or stops, of models with other names than the plain one."""
    saved = os.path.join(root, "testdata/keras/model")
    accented = os.path.join(repository, "modèles [1]/un été.pb")
    model = os.path.join(repository, "models/model.pb")
    os.makedirs(os.path.dirname(accented))
    shutil.copy(model, accented)
    shutil.copytree(saved, os.path.join(repository, "saved"))
    for name in ("fingerprint.pb", "keras_metadata.pb"):
        with open(os.path.join(repository, "saved", name), "wb") as f:
            f.write(b"\x09\x01\x02\x03\x04\x05\x06\x07\x08")
    with open(os.path.join(repository, "policy.toml"), "w") as f:
        f.write('[dtypes]\nforbidden = ["float64"]\n[changed_weights]\n')
    git(repository, "add", ".")
    if (done := git(repository, "commit", "--quiet", "-m", "more")).returncode:
        yield f"hook, good models: {done.stdout}{done.stderr}"
        return

    write_model(repository, BAD)
    shutil.move(model, accented)
    git(repository, "add", ".")
    done = git(repository, "commit", "--quiet", "-m", "worse")
    if not done.returncode or "double begins at this Cast" not in done.stdout + done.stderr or "un été.pb" not in done.stdout + done.stderr:
        yield f"hook, a name with accents: {done.returncode}, {done.stdout}{done.stderr}"
    git(repository, "reset", "--quiet", "--hard")

    data = os.path.join(repository, "saved/variables/variables.data-00000-of-00001")
    with open(data, "r+b") as f:
        f.write(b"\x01\x02\x03\x04")
    git(repository, "add", ".")
    done = git(repository, "commit", "--quiet", "-m", "other weights")
    if not done.returncode or "changed_weights" not in done.stdout + done.stderr:
        yield f"hook, other variables: {done.returncode}, {done.stdout}{done.stderr}"
    git(repository, "reset", "--quiet", "--hard")


def wrong(root, folder):
    repository = os.path.join(folder, "repository")
    make_repository(root, repository)
    make_tarball(repository)
    entry = pre_commit_entry(root)
    hook = os.path.join(repository, ".git/hooks/pre-commit")
    shutil.copy(os.path.join(root, "docs/examples/ci/pre-commit"), hook)

    failed, summary = run_workflow(root, repository, "models/model.pb")
    if failed or "nothing found" not in summary:
        yield f"workflow, a good model: {failed}, {summary}"
    if (done := run([*entry, "models/model.pb"], repository)).returncode:
        yield f"pre-commit, a good model: {done.stdout}{done.stderr}"

    yield from wrong_folder(root, repository)
    write_model(repository, BAD)
    failed, summary = run_workflow(root, repository, "models/model.pb")
    if not failed or failed[0] != "Check" or "```mermaid" not in summary or "change.svg" not in summary:
        yield f"workflow, a bad model: {failed}, {summary}"
    for name in ("check.xml", "check.sarif", "change.svg"):
        if not os.path.getsize(os.path.join(repository, name)):
            yield f"workflow: {name} is empty"
    done = run([*entry, "models/model.pb"], repository)
    if done.returncode != 1 or "double begins at this Cast" not in done.stdout:
        yield f"pre-commit, a bad model: {done.returncode}, {done.stdout}{done.stderr}"
    git(repository, "add", "models")
    done = git(repository, "commit", "--quiet", "-m", "worse")
    if not done.returncode or "double begins at this Cast" not in done.stdout + done.stderr:
        yield f"hook, a bad model: {done.returncode}, {done.stdout}{done.stderr}"
    write_model(repository, GOOD)  # which is not what would be committed
    if not git(repository, "commit", "--quiet", "-m", "worse").returncode:
        yield "hook: the file that is there is checked, and not the one that is committed"
    write_model(repository, GOOD.replace("Relu", "Relu6"))
    git(repository, "add", "models")
    if (done := git(repository, "commit", "--quiet", "-m", "another")).returncode:
        yield f"hook, a good model: {done.stdout}{done.stderr}"
    git(repository, "update-ref", "refs/remotes/origin/main", git(repository, "hash-object", "-t", "tree", "/dev/null").stdout.strip())
    failed, summary = run_workflow(root, repository, "models/model.pb")
    if failed or "nothing found" not in summary or "against" in summary:
        yield f"workflow, a new model: {failed}, {summary}"
    yield from wrong_hook(root, repository)


def main(root, folder):
    faults = list(wrong(os.path.realpath(root), folder))
    print("\n".join([*faults, f"{len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
