"""Shipped laws: what every world and every store must do, for the tests of whoever writes one."""
