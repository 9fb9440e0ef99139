"""OpenEnv: any world as an environment that its clients and trainers play over HTTP, `serve("vending", days=30)`."""

from akinai.core.errors import MissingExtra

try:
    from akinai.adapters.openenv.environment import (
        WorldAction,
        WorldEnvironment,
        WorldObservation,
        WorldState,
        make_app,
        serve,
    )
except ImportError as error:
    raise MissingExtra("an environment of OpenEnv", "openenv", "openenv") from error

__all__ = ["WorldAction", "WorldEnvironment", "WorldObservation", "WorldState", "make_app", "serve"]
