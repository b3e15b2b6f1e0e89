"""The OpenAPI document: what FastAPI reads out of the routes, and what it cannot know. Refusals are problem details,
and everything but health takes a token."""

from typing import Any, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from recollect.interfaces.http import answers
from recollect.interfaces.http.guard import OPEN
from recollect.interfaces.http.problems import MEDIA_TYPE

_TOKEN = {"type": "http", "scheme": "bearer", "description": "The owner's token, or one made with recollect token add."}


def describe(app: FastAPI) -> None:
    """Have the app describe itself in full, once it is asked to."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(
                get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            )
        return app.openapi_schema

    app.openapi = document


def _completed(told: dict[str, Any]) -> dict[str, Any]:
    told["components"]["securitySchemes"] = {"token": _TOKEN}
    for name, schema in cast(dict[str, dict[str, Any]], told["components"]["schemas"]).items():
        schema.update(answers.examples(name))  # as they are: FastAPI leaves out every null
    for path, methods in cast(dict[str, dict[str, Any]], told["paths"]).items():
        for operation in methods.values():
            operation["security"] = [] if path in OPEN else [{"token": []}]
            for status, answer in cast(dict[str, Any], operation["responses"]).items():
                if status[0] in "45":
                    answer["content"] = {MEDIA_TYPE: answer["content"]["application/json"]}
    return told
