"""What TensorBoard imports at start-up: as little as possible, for an exception here stops all of TensorBoard."""

import logging
from typing import Any

from tensorboard.plugins import base_plugin

PLUGIN = "gradhealth"
"""`format.tags.PLUGIN_NAME`, without importing the format."""


class GradHealthLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Loads the Grad Health plugin and sees to it that TensorBoard keeps all of its records.

    TensorBoard keeps 10 or 100 records of each series of a third-party plugin, chosen at random: a NaN of one step
    would be lost.
    """

    def fix_flags(self, flags: Any) -> None:
        """Makes "keep everything" the default of `--samples_per_plugin` for this plugin; what the user gave wins."""
        try:
            samples = _samples(getattr(flags, "samples_per_plugin", None))
            if samples is not None:
                samples.setdefault(PLUGIN, 0)
                flags.samples_per_plugin = samples
        except Exception:
            logging.getLogger(__name__).warning(
                "tb_gradhealth could not ask TensorBoard to keep all of its records: the Grad Health tab may show a "
                "sample of them. Start TensorBoard with --samples_per_plugin=gradhealth=0 to see all.",
                exc_info=True,
            )

    def load(self, context: base_plugin.TBContext) -> base_plugin.TBPlugin:
        """The plugin. What it raises, TensorBoard logs; the other plugins are not affected."""
        from tb_gradhealth.serve.plugin import GradHealthPlugin

        return GradHealthPlugin(context)


def _samples(value: Any) -> dict[str, int] | None:
    """The flag as a dictionary: a string arrives when TensorBoard is started from Python. None: no such flag."""
    if value is None:
        return None
    if isinstance(value, str):
        pairs = (token.strip().split("=") for token in value.split(",") if token.strip())
        return {name: int(count) for name, count in pairs}
    return dict(value)
