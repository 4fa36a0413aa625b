"""The TensorBoard plugin: routes that parse, call and respond.

Promises: reads through TensorBoard's data provider only; imports no TensorFlow; an error is a sentence with a status.
"""

import json
import os
from collections.abc import Callable
from typing import Any

from tensorboard import plugin_util
from tensorboard.backend import http_util
from tensorboard.context import RequestContext
from tensorboard.plugins import base_plugin
from werkzeug import wrappers

from tb_gradhealth.format.tags import PLUGIN_NAME
from tb_gradhealth.serve.api import Api
from tb_gradhealth.serve.arguments import Arguments
from tb_gradhealth.serve.source import Source, Where
from tb_gradhealth.serve.static_files import StaticFiles
from tb_gradhealth.serve.store import DEFAULT_LIMIT, Store

LIMIT_VARIABLE = "TB_GRADHEALTH_CACHE_MB"
"""Environment variable: how many megabytes of records the plugin may hold in memory."""


class GradHealthPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """Serves the Grad Health tab.

    Args:
      context: what TensorBoard hands to every plugin.
    """

    plugin_name = PLUGIN_NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        kept = (context.sampling_hints or {}).get(PLUGIN_NAME)
        self._source = Source(context.data_provider)
        store = Store(self._source, kept, _limit())
        self._api = Api(store)
        self._tidy = store.tidy
        self._static = StaticFiles()

    def get_plugin_apps(self) -> dict[str, Any]:
        api = self._api
        return {
            "/runs": self._data(api.runs, "application/json"),
            "/run": self._data(api.run, "application/json"),
            "/tile": self._data(api.tile, "application/octet-stream"),
            "/lines": self._data(api.lines, "application/json"),
            "/variable": self._data(api.variable, "application/json"),
            "/rank": self._data(api.rank, "application/json"),
            "/report": self._data(api.report, "text/markdown; charset=utf-8"),
            "/table": self._data(api.table, "text/csv"),
            "/index.js": self._file,
            "/index.css": self._file,
            "/assets/*": self._file,
        }

    def is_active(self) -> bool:
        """Whether any run has our data. TensorBoard has usually found out by itself before it asks."""
        return self._source.is_active(Where(RequestContext()))

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="Grad Health")

    def _data(self, answer: Callable[[Where, Arguments], Any], content_type: str) -> Any:
        @wrappers.Request.application
        def handle(request: wrappers.Request) -> wrappers.Response:
            if request.method not in ("GET", "HEAD"):
                return _refused(request)
            where = Where(plugin_util.context(request.environ), plugin_util.experiment_id(request.environ))
            content = answer(where, Arguments.of(request.args.lists()))
            if isinstance(content, dict):
                content = json.dumps(content, allow_nan=False, separators=(",", ":"))
            self._tidy.after(len(content))
            return _respond(request, content, content_type)

        return handle

    @property
    def _file(self) -> Any:
        @wrappers.Request.application
        def handle(request: wrappers.Request) -> wrappers.Response:
            if request.method not in ("GET", "HEAD"):
                return _refused(request)
            name = request.path.split(f"/{PLUGIN_NAME}/", 1)[-1]
            file = self._static.get(name)
            if file is None:
                return _respond(request, "There is no such file.", "text/plain", code=404)
            return _respond(request, file.content, file.content_type, expires=file.max_age, content_encoding="gzip")

        return handle


def _respond(request: wrappers.Request, content: Any, content_type: str, **more: Any) -> wrappers.Response:
    response: wrappers.Response = http_util.Respond(request, content, content_type, **more)
    return response


def _refused(request: wrappers.Request) -> wrappers.Response:
    headers = [("Allow", "GET, HEAD")]
    return _respond(request, "Only GET and HEAD are answered here.", "text/plain", code=405, headers=headers)


def _limit() -> int:
    text = os.environ.get(LIMIT_VARIABLE, "")
    return int(text) << 20 if text.isascii() and text.isdigit() and 0 < len(text) < 9 else DEFAULT_LIMIT
