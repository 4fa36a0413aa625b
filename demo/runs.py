"""The runs of the demo: which program, with which arguments, and how it ends."""

import dataclasses
import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "demo_logs"
EXAMPLES = ROOT / "examples"
RECORDING = ("format", "health", "record", "explain")


@dataclasses.dataclass(frozen=True)
class Run:
    """One training.

    Attributes:
      name: the run's folder below `LOGS`, and its name in TensorBoard.
      program: the file to run.
      arguments: what it is given besides `--log-dir`.
      raises: a text that its output must hold, when Keras is expected to end the training with an error.
    """

    name: str
    program: Path
    arguments: tuple[str, ...] = ()
    raises: str = ""

    @property
    def log_dir(self) -> Path:
        return LOGS / self.name

    @property
    def key(self) -> str:
        """Changes when a training of this run may give another log: its program, arguments or what records it."""
        recording = (path for room in RECORDING for path in sorted((ROOT / "tb_gradhealth" / room).rglob("*.py")))
        parts = (repr(self.arguments).encode(), self.program.read_bytes(), *(path.read_bytes() for path in recording))
        return hashlib.sha256(b"\0".join(parts)).hexdigest()


NO_GRADIENTS = "No gradients provided for any variable"

RUNS = (
    Run("healthy_gru", ROOT / "demo" / "healthy_gru.py"),
    Run("seq2seq_gru", EXAMPLES / "seq2seq_gru.py"),
    Run("vae_recurrent_decoder", EXAMPLES / "vae_recurrent_decoder.py"),
    Run("audio_gru", EXAMPLES / "audio_gru.py"),
    Run("audio_gru_state_variable", EXAMPLES / "audio_gru.py", ("--state-variable",)),
    Run("tf1_gru", EXAMPLES / "tf1_gru.py"),
    Run("feedback_autoencoder_keras2", EXAMPLES / "feedback_autoencoder.py", ("--keras", "2"), NO_GRADIENTS),
    Run(
        "feedback_autoencoder_keras3",
        EXAMPLES / "feedback_autoencoder.py",
        ("--keras", "3", "--fault", "write"),
        NO_GRADIENTS,
    ),
)
