"""``python -m assignor_lab``: the command ``assignor``."""

from assignor_lab.cli.main import main

if __name__ == "__main__":
    main()
