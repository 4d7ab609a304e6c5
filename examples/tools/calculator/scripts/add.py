#!/usr/bin/env python3
"""Add two numbers."""

import json
import sys


def main(a: float, b: float) -> None:
    print(a + b)


if __name__ == "__main__":
    try:
        main(**json.load(sys.stdin))
    except (TypeError, ValueError) as error:
        sys.exit(f"add: {error}")
