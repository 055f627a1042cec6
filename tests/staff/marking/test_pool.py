"""Who marks many at a time is told whom one waits for."""

import time

from staff.marking.pool import Workers
from staff.marking.submissions import find_submissions


def test_whom_one_waits_for_is_told(tmp_path, monkeypatch):
    (tmp_path / "Anna Li.ipynb").write_text("{", encoding="utf-8")

    def late(self, folder):
        self.began = {submission: since - 130 for submission, since in self.began.items()}
        time.sleep(1.2)
        return "Late."

    monkeypatch.setattr(Workers, "_wait_for", late)
    told = []
    with Workers(tmp_path, tmp_path, 1, {}) as workers:
        results = list(workers.mark(find_submissions(tmp_path), told.append))
    assert [result["reason"] for _, result, _ in results] == ["Late."]
    assert told == ["Anna Li: 2 min", ""]
