"""PostgresStore under the shipped laws."""

from real_postgres import schema_in

from akinai.stores.postgres import PostgresStore
from akinai.testing import store_laws

test_laws = store_laws.laws_for(lambda folder: PostgresStore.open(schema_in(folder)))
