"""What is worked out of each run and kept until the run changes: its health, and what norms are usual in it.

Thread-safe: requests for one run wait for each other, those for other runs do not.
"""

import threading

from tb_gradhealth.health import RunHealth
from tb_gradhealth.serve.assessment import Judge
from tb_gradhealth.serve.change import Usual, UsualNorms
from tb_gradhealth.serve.memory import give_back
from tb_gradhealth.serve.run import Run


class Insights:
    """Of one run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._judge = Judge()
        self._health: tuple[str, RunHealth] | None = None
        self._norms: dict[str, UsualNorms] = {}
        self._usual: dict[str, tuple[str, Usual]] = {}

    def health(self, run: Run) -> RunHealth:
        """The verdict on the run and what it rests on."""
        with self._lock:
            if self._health is None or self._health[0] != run.revision:
                first = self._health is None
                self._health = run.revision, self._judge.health(run)
                if first:
                    give_back()
            return self._health[1]

    def known_health(self, revision: str) -> RunHealth | None:
        """The verdict on that revision of the run, if it has been asked for."""
        health = self._health
        return health[1] if health is not None and health[0] == revision else None

    def usual(self, run: Run, group: str) -> Usual:
        """The usual norms of a group."""
        with self._lock:
            if group not in self._usual or self._usual[group][0] != run.revision:
                followed = self._norms.setdefault(group, UsualNorms()).follow(run.tables[group])
                self._usual[group] = run.revision, followed
            return self._usual[group][1]
