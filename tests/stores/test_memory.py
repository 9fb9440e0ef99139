"""MemoryStore under the shipped laws."""

from akinai.stores.memory import MemoryStore
from akinai.testing import store_laws

test_laws = store_laws.laws_for(lambda _: MemoryStore.open(), lasting=False)
