"""Runs a program in a terminal of its own and copies what it writes there.

    python in_terminal.py COLUMNS PROGRAM [ARGUMENT ...]
"""

import fcntl
import os
import pty
import struct
import sys
import termios

ROWS = 24


def main(columns, *command):
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, int(columns), 0, 0))
        os.execv(command[0], command)
    while True:
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:  # How Linux says that the other end was closed.
            break
        if not data:
            break
        sys.stdout.buffer.write(data)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
