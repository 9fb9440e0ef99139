"""The public server on SQLite, in a process of its own: `python public_server.py PORT DATABASE`."""

import sys

from magentic_marketplace.marketplace.protocol import SimpleMarketplaceProtocol
from magentic_marketplace.platform.database.sqlite import connect_to_sqlite_database
from magentic_marketplace.platform.server import MarketplaceServer

if __name__ == "__main__":
    port, path = int(sys.argv[1]), sys.argv[2]
    server = MarketplaceServer(lambda: connect_to_sqlite_database(path), SimpleMarketplaceProtocol())
    server.serve(port=port, log_level="critical")
