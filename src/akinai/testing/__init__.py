"""Shipped laws: what every store must do, for the tests of whoever writes one."""
