"""MemoryStore under the shipped laws."""

from akinai.stores.memory import MemoryStore
from akinai.testing.laws import store_laws

test_laws = store_laws(lambda _: MemoryStore.open(), lasting=False)
