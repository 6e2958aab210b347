"""What the client scripts share: one line a check, "ok" or "FAIL", and an exit status."""

import sys
import traceback


class Checks:
    """Counts the checks of one client."""

    def __init__(self, client):
        self.client = client
        self.failed = 0

    def same(self, what, got, want):
        """Checks a value and its type."""
        ok = got == want and type(got) is type(want)
        print(f"{'ok  ' if ok else 'FAIL'} {self.client}: {what}" + ("" if ok else f": got {got!r}, want {want!r}"))
        self.failed += not ok

    def raises(self, what, kind, sqlstate, fn):
        """Checks that fn fails with an error of this kind and SQLSTATE."""
        try:
            fn()
        except kind as e:
            orig = getattr(e, "orig", e)
            self.same(what, getattr(orig, "pgcode", None) or getattr(orig, "sqlstate", None), sqlstate)
            return
        self.same(what, "no error", sqlstate)

    def section(self, what, fn, *args):
        """Runs a part of the script; what it raises is a failure of the part only."""
        try:
            fn(*args)
        except Exception:
            traceback.print_exc(file=sys.stdout)
            self.same(what, "an exception", "none")

    def end(self):
        sys.exit(1 if self.failed else 0)
