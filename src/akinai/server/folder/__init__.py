"""A game in a folder, for coding agents: files to read, a program to play with, and the server that it asks."""
