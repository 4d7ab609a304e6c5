#!/usr/bin/env python3
"""Print a text file, or some of its lines."""

import argparse
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="the file")
    parser.add_argument("--first", type=int, default=1, help="the first line to print")
    parser.add_argument("--last", type=int, help="the last line to print")
    args = parser.parse_args()
    try:
        lines = args.path.read_text(encoding="utf-8").splitlines(keepends=True)
    except (OSError, ValueError) as error:
        sys.exit(f"read_file: {error}")
    sys.stdout.writelines(lines[max(args.first, 1) - 1 : args.last])


if __name__ == "__main__":
    main()
