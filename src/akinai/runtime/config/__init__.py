"""Settings and what they name: presets, files, addresses and stores."""
