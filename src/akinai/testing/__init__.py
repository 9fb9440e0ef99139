"""Shipped laws that every world and every store must keep, for the tests of those who write one."""
