"""The runtime: sessions, drivers, runs and their life, models. Here files are opened and clocks are read."""
