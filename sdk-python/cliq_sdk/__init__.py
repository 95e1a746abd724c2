"""cliq_sdk - agents for cliq pipelines, and a client of its hub.

    from cliq_sdk import CliqAgent, build_phase_context, finalize_standard_phase

One noun per module; read them in this order:
    message      the AgentMessage that an agent reads on standard input
    status_line  the lines that it appends to <signal_dir>/<phase>.jsonl
    handoff      handoff.json, what one phase tells the next
    board        the task board
    context      everything an agent can read and do in a phase
    agent        CliqAgent: a message in, its handler, the last status line
    client       CliqClient: the hub over HTTP; loaded at first use
Below them: awaited (async handlers), state_dir (files), json_text, mask (secrets), template.

docs/formats/pipeline.md and cliq-protocol(7) describe the files. Tests: test/scenario/sdk_*.bats
"""
import sys

if sys.version_info < (3, 7):  # which cannot read the modules below
    raise ImportError("cliq_sdk needs Python 3.9 or newer, and this is %d.%d" % sys.version_info[:2])

from .agent import CliqAgent
from .board import TaskBoard
from .context import (GateContext, InputText, PhaseContext, build_phase_context, finalize_gate_phase,
                      finalize_standard_phase)
from .message import make_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .client import CliqClient, CliqClientError

__all__ = ["CliqAgent", "CliqClient", "CliqClientError", "GateContext", "InputText", "PhaseContext", "TaskBoard",
           "build_phase_context", "finalize_gate_phase", "finalize_standard_phase", "make_message"]


# http.client takes longer to load than all the rest, and few agents need it.
def __getattr__(name: str) -> object:
    if name in ("CliqClient", "CliqClientError"):
        from . import client
        return getattr(client, name)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
