"""market@2: customers and businesses find each other, bargain by message, and pay (after arXiv 2510.25779)."""

from akinai.worlds.market.analysis.deals import business_deals, customer_deals
from akinai.worlds.market.world import Market, Setup, State, registered

__all__ = ["Market", "Setup", "State", "business_deals", "customer_deals", "registered"]
