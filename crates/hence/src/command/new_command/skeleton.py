#!/usr/bin/env python3
# hence @NAME@: @COMMENT@
#
# `hence @NAME@` runs this file wherever it lies on the PATH. In HENCE it finds the program that called it, and in
# HENCE_DATA the ledger, if one was named: hence --data DIR @NAME@
import argparse
import json
import os
import subprocess
import sys


def hence(*words):
    """What a command answers to programs. If it fails it has said why, and we end as it did."""
    command = [os.environ.get("HENCE", "hence"), *words, "--format", "json"]
    answer = subprocess.run(command, stdout=subprocess.PIPE)
    if answer.returncode != 0:
        sys.exit(answer.returncode)
    return json.loads(answer.stdout)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """A wrong argument is exit code 1, as everywhere in hence."""
        self.exit(1, f"error: {message}\n\n{self.format_help()}")


def main():
    parser = Parser(prog="hence @NAME@", description=@DESCRIPTION@)
    parser.parse_args()
    # Here the work begins.
    for node in hence("list", "nodes"):
        print(node)


if __name__ == "__main__":
    main()
