"""How much memory is taken to be free, of the machine and of the control groups of a container or a job."""

import pytest

from f2sl import _memory
from f2sl._memory import available_bytes, free_in_groups, memory_limit

NO_LIMIT_V1 = 9223372036854771712


@pytest.fixture
def put(tmp_path):
    """Write files of a system whose root is a folder."""

    def write(files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")
        return tmp_path

    return write


def group(folder, limit, used, idle):
    """Make the files of a group, of version 2."""
    stat = f"anon 5\ninactive_file {idle}\nactive_file 9"
    return {f"{folder}/memory.max": limit, f"{folder}/memory.current": used, f"{folder}/memory.stat": stat}


def test_the_least_of_all_groups_above_counts(put):
    top = "sys/fs/cgroup/jobs.slice"
    root = put(
        {
            "proc/self/cgroup": "0::/jobs.slice/job7/step0",
            **group(top, 9_000, 1_000, 200),
            **group(f"{top}/job7", 5_000, 900, 300),
            **group(f"{top}/job7/step0", "max", 100, 0),
        }
    )
    assert free_in_groups(root) == 5_000 - 900 + 300


def test_a_container_sees_its_own_group_at_the_top(put):
    """The first version names the group as the machine knows it, which is not there inside."""
    top = "sys/fs/cgroup/memory"
    root = put(
        {
            "proc/self/cgroup": "9:name=systemd:/docker/1f\n4:memory:/docker/1f\n0::/",
            f"{top}/memory.limit_in_bytes": 4_000,
            f"{top}/memory.usage_in_bytes": 3_000,
            f"{top}/memory.stat": "cache 700\ninactive_file 1\ntotal_inactive_file 600",
        }
    )
    assert free_in_groups(root) == 1_600
    put({f"{top}/memory.limit_in_bytes": NO_LIMIT_V1})
    assert free_in_groups(root) > 2**60


def test_what_is_over_the_limit_leaves_nothing(put):
    assert free_in_groups(put({"proc/self/cgroup": "0::/", **group("sys/fs/cgroup", 50, 80, 10)})) == 0


@pytest.mark.parametrize("files", [{}, {"proc/self/cgroup": "0::/a"}, {"proc/self/cgroup": "1:cpu:/"}])
def test_no_limit_that_is_known(put, files):
    assert free_in_groups(put(files)) is None


def test_half_of_what_is_free_by_default(monkeypatch):
    monkeypatch.setattr(_memory, "_free_in_machine", lambda: 8 * 10**9)
    monkeypatch.setattr(_memory, "free_in_groups", lambda: None)
    assert (available_bytes(), memory_limit(None)) == (8 * 10**9, 4 * 10**9)
    monkeypatch.setattr(_memory, "free_in_groups", lambda: 10**9)
    assert (available_bytes(), memory_limit(None)) == (10**9, 5 * 10**8)
    monkeypatch.setattr(_memory, "free_in_groups", lambda: 0)
    assert memory_limit(None) == _memory.LEAST_MEMORY
    monkeypatch.setattr(_memory, "_free_in_machine", lambda: None)
    monkeypatch.setattr(_memory, "free_in_groups", lambda: None)
    assert memory_limit(None) == _memory.MEMORY_UNKNOWN
