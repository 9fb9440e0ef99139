"""The laws that every world and every store keeps, for your own tests.

from akinai.testing.laws import store_laws, world_laws

test_world = world_laws(MyWorld(), scores={"idle": {"profit": 0}}, books=my_books)
test_store = store_laws(open_my_store)
"""

from akinai.testing.laws.case import Books, WorldCase, no_books
from akinai.testing.laws.stores import LASTING_STORE_LAWS, STORE_LAWS, store_laws
from akinai.testing.laws.worlds import WORLD_LAWS, WorldLaw, world_laws

__all__ = [
    "LASTING_STORE_LAWS",
    "STORE_LAWS",
    "WORLD_LAWS",
    "Books",
    "WorldCase",
    "WorldLaw",
    "no_books",
    "store_laws",
    "world_laws",
]
