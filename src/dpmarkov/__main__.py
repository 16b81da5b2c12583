"""`python -m dpmarkov`: the command line."""

from dpmarkov.cli import main

if __name__ == "__main__":
    main()
