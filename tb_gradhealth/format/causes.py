"""A cause: which operation on which source line, why, and what to change."""

import dataclasses
import hashlib
import html
import os

from tb_gradhealth.format import gradhealth_pb2 as pb

CERTAINTIES = ("certain", "likely", "guess")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cause:
    """Why some variables' gradients are ill.

    Attributes:
      kind: the illness it explains: ``"none"``, ``"nan"``, ``"inf"``, ``"zero"``, ``"overflow"``, ``"exploding"``;
        ``"error"``: it explains an exception that kept a step from having gradients.
      reason_id: stable short name of the reason, e.g. ``"stop_gradient"``.
      reason: the reason in one plain sentence.
      op: TensorFlow's type of the operation (``"Sqrt"``), or ``"numpy"``, ``"outside_tape"``, ``"unused"``,
        ``"input"``, …
      file, line, code: where it stands in the user's source: path as the interpreter has it, 1-based line, its stripped
        text. Line 0: no line is known.
      phase: ``"forward"`` or ``"backward"``; ``""`` where that distinction has no meaning.
      fix: what to change, in one or two sentences.
      certainty: one of `CERTAINTIES`.
      variables: names of the variables it explains, in order of the schema.
      step: the step at which it was seen, -1 when not known.
      evidence: short sentences with numbers ("3 of 64 inputs were exactly 0").
      replica: the replica in which it was born, -1 when that has no meaning.
      group: the group of the variables; filled in by the recorder.
    """

    kind: str
    reason_id: str
    reason: str
    op: str
    file: str = ""
    line: int = 0
    code: str = ""
    phase: str = ""
    fix: str = ""
    certainty: str = "certain"
    variables: tuple[str, ...] = ()
    step: int = -1
    evidence: tuple[str, ...] = ()
    replica: int = -1
    group: str = ""

    @property
    def id(self) -> str:
        """The same for the same cause, in every process: of kind, reason, operation and place."""
        key = "\0".join((self.group, self.kind, self.reason_id, self.op, self.file, str(self.line), self.code))
        return hashlib.sha256(key.encode()).hexdigest()[:12]

    def to_proto(self) -> pb.Cause:
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return pb.Cause(id=self.id, **fields)

    @classmethod
    def from_proto(cls, message: pb.Cause) -> "Cause":
        fields = {f.name: getattr(message, f.name) for f in dataclasses.fields(cls)}
        fields["variables"] = tuple(message.variables)
        fields["evidence"] = tuple(message.evidence)
        return cls(**fields)

    def __repr__(self) -> str:
        where = f" at {os.path.basename(self.file)}:{self.line}" if self.line else ""
        return f"<Cause of {self.kind}: {self.op or self.reason_id}{where}, {self.certainty}: {self.reason}>"

    def _repr_html_(self) -> str:
        """For a notebook: text only, no scripts, nothing from outside."""
        parts = []
        if self.line:
            where = html.escape(f"{self.file}:{self.line}")
            parts.append(f"<div><code>{where}</code></div><pre>{html.escape(self.code)}</pre>")
        sure = "" if self.certainty == "certain" else f" ({self.certainty})"
        parts.append(f"<div><b>{html.escape(self.reason)}</b>{sure}</div>")
        parts += [f"<div>{html.escape(sentence)}</div>" for sentence in self.evidence]
        if self.fix:
            parts.append(f"<div>→ {html.escape(self.fix)}</div>")
        who = html.escape(", ".join(self.variables))
        return f"<div><div>{html.escape(self.kind)} gradient of {who or 'the step'}</div>{''.join(parts)}</div>"

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: {self.code}\n  " if self.line else ""
        sure = "" if self.certainty == "certain" else f" ({self.certainty})"
        fix = f"\n  {self.fix}" if self.fix else ""
        return f"{where}{self.reason}{sure}{fix}"
