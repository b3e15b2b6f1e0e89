"""HTTP: the routes, who may come in, and how a refusal is told."""

from recollect.interfaces.http.app import make_app

__all__ = ["make_app"]
