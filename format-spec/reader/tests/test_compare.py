"""A few random stores of the engine's. Builds the engine, so only if asked for:

    WAYMARK_COMPARE=25 python3 -m unittest discover -s format-spec/reader/tests
"""

import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import compare  # noqa: E402
from waymark_reader import zstd  # noqa: E402

COUNT = int(os.environ.get("WAYMARK_COMPARE", "0"))


@unittest.skipUnless(COUNT, "set WAYMARK_COMPARE to a number of stores")
@unittest.skipIf(compare.why_not(), f"the engine cannot be run: {compare.why_not()}")
@unittest.skipUnless(zstd.available(), "no zstd: install waymark-reader[zstd]")
class Compare(unittest.TestCase):
    def test_random_stores(self):
        work = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, work)
        seen = compare.run(compare.java_command(), work, 1, COUNT)
        self.assertEqual(seen["stores"], COUNT, dict(seen))


if __name__ == "__main__":
    unittest.main()
