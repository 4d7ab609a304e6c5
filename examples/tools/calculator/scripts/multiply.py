#!/usr/bin/env python3
import json
import sys


def main(a: float, b: float = 1) -> None:
    """Multiply two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    print(a * b)


if __name__ == "__main__":
    try:
        main(**json.load(sys.stdin))
    except (TypeError, ValueError) as error:
        sys.exit(f"multiply: {error}")
