"""The routes, by noun. Each parses, calls Memory and shapes the answer; who may do what is decided behind it."""

from recollect.interfaces.http.routes import audit, levels, memory, projects, server, turns

ROOMS = (server.room, memory.room, levels.room, turns.room, projects.room, audit.room)
