"""What TensorBoard imports at start-up: as little as possible, for an exception here stops all of TensorBoard."""

from typing import Any

from tensorboard.plugins import base_plugin


class GradHealthLoader(base_plugin.TBLoader):
    """Loads the Grad Health plugin."""

    def load(self, context: base_plugin.TBContext) -> Any:
        return None
