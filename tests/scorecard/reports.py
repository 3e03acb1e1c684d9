"""Counts what a program reports under a sanitizer or valgrind: ``COMMAND 2>&1 | python3 tests/scorecard/reports.py NAME``.

Passes the output on, without the lines that the scorecard would count, and then prints the number of passed tests as the
count NAME, beside those of failed tests and of reports. Its exit status is 1 if there were any, or if nothing passed.
"""

from __future__ import annotations

import json
import re
import sys

PROGRAM = re.compile(r"^(\d+) passed, (\d+) failed$")
# The first lines of reports by the sanitizers, and the lines of one by valgrind.
SANITIZER = re.compile(r"^==\d+==(ERROR|WARNING): |^WARNING: ThreadSanitizer|^FATAL: ThreadSanitizer|: runtime error: ")
VALGRIND = re.compile(r"^==\d+== +\S")


def main() -> int:
    passed = failed = reports = 0
    inside = False
    for line in sys.stdin:
        if found := PROGRAM.match(line):
            passed += int(found[1])
            failed += int(found[2])
            continue
        sys.stdout.write(line)
        valgrind = bool(VALGRIND.match(line))
        reports += bool(SANITIZER.search(line)) or (valgrind and not inside)
        inside = valgrind
    print("scorecard:", json.dumps({sys.argv[1]: passed, "failed": failed, "reports": reports}))
    return int(failed > 0 or reports > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
