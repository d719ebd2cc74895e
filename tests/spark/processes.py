"""Commands that run in a session of processes of their own, so that tests see all that they leave."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from twigcast.subscriptions.store import SubscriptionStore

TWIGCAST = [sys.executable, "-c", "from twigcast.cli import main; main()"]
PIPELINE = """
stream = { interval_seconds = 0.1 }
[spark]
master = "local[1]"
"""


@dataclass(slots=True)
class Group:
    """A command and all processes that it starts; they are its session of processes."""

    process: subprocess.Popen[str]

    @classmethod
    def start(cls, command: list[str], folder: Path) -> Group:
        """Start a command in a folder; its temporary files are in ``folder/tmp``."""
        (folder / "tmp").mkdir(exist_ok=True)
        return cls(
            subprocess.Popen(
                command,
                cwd=folder,
                env=os.environ | dict.fromkeys(("TMPDIR", "SPARK_LOCAL_DIRS"), str(folder / "tmp")),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )

    def alive(self) -> dict[int, str]:
        """The command lines of the living processes by their ids; those of zombies are gone."""
        found: dict[int, str] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                fields = (folder / "stat").read_text().rpartition(") ")[2].split()
                if int(fields[3]) == self.process.pid and fields[0] != "Z":
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return found

    def find(self, words: str) -> list[int]:
        """The ids of the living processes whose command line has these words, but for the first process."""
        return [pid for pid, line in self.alive().items() if words in line and pid != self.process.pid]

    def signal(self, number: int) -> None:
        """Send a signal to all processes, as a terminal does."""
        os.killpg(self.process.pid, number)

    def end(self) -> None:
        """Kill what is left."""
        for pid in self.alive():
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        self.process.communicate()


def write_pipeline(folder: Path, text: str = PIPELINE) -> Path:
    """A pipeline with one document and one subscription."""
    (folder / "feed").mkdir(exist_ok=True)
    (folder / "feed" / "1.xml").write_text("<a/>")
    SubscriptionStore(folder / "subscriptions.db").subscribe("all", "/*")
    path = folder / "pipeline.toml"
    path.write_text(text)
    return path
