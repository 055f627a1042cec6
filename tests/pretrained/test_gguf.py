"""The reader of GGUF files: settings, tensors, and files that are none."""

import struct

import numpy as np
import pytest
import torch

from helpers.pretrained.gguf import GGUF
from helpers.pretrained.store import find


def string(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def written(path, blocks, kind, shape):
    """A file with a few settings and one tensor."""
    settings = [
        string("a.number") + struct.pack("<If", 6, 0.5),
        string("a.word") + struct.pack("<I", 8) + string("straße"),
        string("a.list") + struct.pack("<IIQ3i", 9, 5, 3, 1, -2, 3),
        string("words") + struct.pack("<IIQ", 9, 8, 2) + string("a") + string("b"),
    ]
    table = (
        string("w") + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape[::-1])
    )
    table += struct.pack("<IQ", kind, 0)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(settings)) + b"".join(settings) + table
    path.write_bytes(head + bytes(-len(head) % 32) + blocks)
    return path


def test_settings_and_a_tensor_are_read(tmp_path):
    weights = torch.arange(6.0).view(2, 3)
    file = GGUF(written(tmp_path / "m.gguf", weights.numpy().tobytes(), 0, (2, 3)))
    assert file.settings == {
        "a.number": 0.5, "a.word": "straße", "a.list": [1, -2, 3], "words": ["a", "b"],
    }  # fmt: skip
    assert torch.equal(file["w"], weights)
    assert file.tensors["w"].bits == 32


def test_eight_bits_are_a_scale_times_whole_numbers(tmp_path):
    codes = np.arange(-16, 16, dtype=np.int8)
    block = np.float16(0.25).tobytes() + codes.tobytes()
    file = GGUF(written(tmp_path / "m.gguf", block, 8, (32,)))
    assert file["w"].tolist() == [0.25 * code for code in range(-16, 16)]
    assert file.tensors["w"].bits == 8.5


def test_five_bits_are_four_and_one_from_elsewhere(tmp_path):
    codes = np.arange(32)
    fifth = np.packbits(codes >> 4, bitorder="little").tobytes()
    fours = (codes[:16] & 15 | (codes[16:] & 15) << 4).astype(np.uint8).tobytes()
    block = np.float16(0.5).tobytes() + fifth + fours
    file = GGUF(written(tmp_path / "m.gguf", block, 6, (32,)))
    assert file["w"].tolist() == [0.5 * (code - 16) for code in range(32)]


@pytest.mark.parametrize("cut", [0, 3, 20, 100, 200, -1])
def test_a_file_that_is_cut_off_says_so(tmp_path, cut):
    path = written(tmp_path / "m.gguf", bytes(24), 0, (2, 3))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ValueError, match=r"m.gguf .*(fetch it again|is no GGUF file)"):
        GGUF(path)


def test_another_kind_of_file_says_so(tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"PK\x03\x04 something else")
    with pytest.raises(ValueError, match="is no GGUF file"):
        GGUF(tmp_path / "m.gguf")


@pytest.mark.pretrained
def test_every_kind_of_block_is_what_the_makers_package_reads():
    gguf = pytest.importorskip("gguf")
    folder = find("gemma")
    assert folder is not None
    file, seen = GGUF(folder / "gemma-3-270m.gguf"), set()
    for name, stored in file.tensors.items():
        if stored.kind in {"F32", *seen}:
            continue
        seen.add(stored.kind)
        raw = np.fromfile(file.path, np.uint8, stored.n_bytes, offset=stored.begin)
        kind = gguf.GGMLQuantizationType[stored.kind]
        expected = gguf.dequantize(raw.reshape(stored.shape[0], -1), kind)
        assert torch.equal(file[name], torch.from_numpy(expected.copy()))
    assert seen == {"Q8_0", "Q5_0", "Q4_K", "Q6_K"}
