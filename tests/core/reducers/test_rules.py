"""The list of the reducers' rules, in our words, and the proof that each of them has a test."""

import ast
from collections.abc import Iterator
from pathlib import Path

RULES = {
    "G1": "Null reads as absent, and a state never stores null; empty lists and strings are values.",
    "G2": "Reducers are pure: neither the state nor the action they are given changes.",
    "G3": "The time is an argument, not something a reducer looks up.",
    "G4": "An unknown action, or one of another scope, changes nothing.",
    "G5": "The caller routes; reducers do not look at the URI in an action.",
    "G6": "Unknown data stays, except in objects that a rule builds anew.",
    "G7": "Six switches are tested for truth; all else that may be given is tested for presence.",
    "H1": "What belongs to a turn counts only while exactly that turn is active.",
    "H2": "A part is found by its id, and only the first with that id counts, whatever its kind.",
    "H3": "A tool action meets every call with its id in the active turn.",
    "H4": "The activity is error when forced, else input needed, in progress or idle.",
    "H5": "Recomputing the status replaces its lowest five bits and keeps all flags.",
    "H6": "Four tool actions recompute the status whether or not they changed a call.",
    "H7": "Setting or clearing a flag changes that one bit.",
    "H8": "Touching a session stamps its summary with the given time.",
    "H9": "Ending a turn skips open calls, files the turn, drops open requests, and keeps what is pending.",
    "H10": "Who a tool call is comes from the call itself, never from a later action.",
    "H11": "A chosen option is stored whole, if it was offered.",
    "R1": "The list of agents is replaced.",
    "R2": "The number of sessions is replaced.",
    "R3": "The list of terminals is replaced.",
    "R4": "Host settings are merged at the top level or replaced, if there is a config.",
    "S1": "A session becomes ready with a status of exactly one.",
    "S2": "A failed creation leaves its error.",
    "S3": "A turn starts empty and unread over any active one, and takes its message out of what is pending.",
    "S4": "Text grows a markdown part.",
    "S5": "A part is appended as it is.",
    "S6": "A turn ends complete.",
    "S7": "A turn ends cancelled.",
    "S8": "A turn ends broken, with its error and a status of error.",
    "S9": "The usage of the active turn is replaced.",
    "S10": "Thought grows a reasoning part.",
    "S11": "The history is cut after a turn of it, or emptied; the active turn goes in any case.",
    "S12": "A tool call starts streaming.",
    "S13": "The input of a streaming call grows.",
    "S14": "A streaming or running call is ready: it waits, or runs if already confirmed.",
    "S15": "A waiting call is approved and runs, with edited input if there is any.",
    "S16": "A waiting call is denied and cancelled.",
    "S17": "A running or waiting call is done, or waits for a look at its result.",
    "S18": "A result is approved and kept, or denied and forgotten.",
    "S19": "A running call shows new content.",
    "S20": "The title is replaced.",
    "S21": "The model is replaced.",
    "S22": "The flag for read is set or cleared.",
    "S23": "The flag for archived is set or cleared.",
    "S24": "The activity is replaced or dropped.",
    "S25": "The diffs are replaced.",
    "S26": "Session settings are merged at the top level or replaced, if there is a config.",
    "S27": "The session's meta is replaced or dropped.",
    "S28": "The server's tools are replaced.",
    "S29": "The active client is replaced or dropped.",
    "S30": "The tools of the active client are replaced, if there is one.",
    "S31": "The customizations are replaced.",
    "S32": "The first customization with the URI is switched.",
    "S33": "The first customization with the URI is updated by what is given, or a new one appended.",
    "S34": "A request is appended, or replaced in place with its answers kept unless it brings its own.",
    "S35": "One answer of a known request is stored or taken back.",
    "S36": "A known request is removed once it is settled.",
    "S37": "A message is put into the steering slot or the queue.",
    "S38": "A message is removed from the steering slot or the queue.",
    "S39": "The queue is reordered: named messages first, the others as they were.",
    "T1": "Output goes to the last part if that is open, else to a new part.",
    "T2": "Input changes nothing.",
    "T3": "The size is replaced.",
    "T4": "The claim is replaced.",
    "T5": "The title is replaced.",
    "T6": "The working directory is replaced.",
    "T7": "The exit code is stored or dropped.",
    "T8": "The content is emptied.",
    "T9": "Command detection is noted.",
    "T10": "A command opens a part and proves that commands are detected.",
    "T11": "Every command with the id is finished.",
}
MATRIX = "test_session_matrix.py"  # proves no rule by itself: one test of it names all of them


def named_rules() -> Iterator[tuple[str, str]]:
    """Yield each rule that a test of this folder names literally, with the name of the test's file."""
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "rule":
                        literals = (arg for arg in decorator.args if isinstance(arg, ast.Constant))
                        yield from ((str(arg.value), file.name) for arg in literals)


def test_every_rule_has_a_test() -> None:
    proved = {rule_id for rule_id, file in named_rules() if file != MATRIX or rule_id.startswith("G")}
    assert sorted(RULES.keys() - proved) == []


def test_every_test_names_known_rules() -> None:
    assert sorted({rule_id for rule_id, _ in named_rules()} - RULES.keys()) == []
