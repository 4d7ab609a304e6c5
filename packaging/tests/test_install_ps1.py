"""The installer for Windows, as far as it can be read without PowerShell."""

import re
import unittest

from distribution import project


class PowerShell(unittest.TestCase):
    """What `install.ps1` asks of PowerShell."""

    def test_the_exit_code_is_that_of_a_program_outside_of_a_pipeline(self) -> None:
        # A pipeline that `Select-Object -First` ends early leaves `$LASTEXITCODE` unset, and `$null -ne 0` is true.
        lines = (project.PACKAGING / "install.ps1").read_text(encoding="utf-8").splitlines()
        asked = [number for number, line in enumerate(lines) if "$LASTEXITCODE" in line]
        self.assertTrue(asked)
        for number in asked:
            self.assertRegex(lines[number - 1], r"^ *(\$\w+ = )?& [^|]+$", f"line {number + 1}")

    def test_every_started_program_is_asked_for_its_exit_code(self) -> None:
        text = (project.PACKAGING / "install.ps1").read_text(encoding="utf-8")
        started = re.findall(r"^ *(?:\$\w+ = )?& .*\n(.*)$", text, re.MULTILINE)
        self.assertTrue(started)
        for after in started:
            self.assertIn("$LASTEXITCODE", after)


if __name__ == "__main__":
    unittest.main()
