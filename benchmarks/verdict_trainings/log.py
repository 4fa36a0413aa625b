"""Where a training records: the product's own callback and writer, in one directory."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Log:
    directory: str

    def callback(self, **options: Any) -> Any:
        from tb_gradhealth import GradHealthCallback

        return GradHealthCallback(self.directory, **options)

    def writer(self, **options: Any) -> Any:
        from tb_gradhealth import GradHealthWriter

        return GradHealthWriter(self.directory, **options)
