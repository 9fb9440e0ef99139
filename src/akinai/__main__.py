"""`python -m akinai`: the same as the command `akinai`."""

from akinai.cli import main

if __name__ == "__main__":
    main()
