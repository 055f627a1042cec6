"""Capitals are equally strong and stand where they are said to; captions say what is drawn."""

import torch

from helpers.data.pictures import CAPITALS, COLOURS, NOISE, capitals, draw_scenes, hidden_capitals


def test_letters_are_equally_strong_and_all_different():
    glyphs = capitals().flatten(1)
    assert torch.allclose(glyphs.norm(dim=1), torch.tensor(5.0))
    alike = glyphs @ glyphs.T / 25
    assert float((alike - 2 * torch.eye(len(CAPITALS))).max()) < 0.95


def test_what_is_left_without_the_letter_is_noise():
    pictures, labels = hidden_capitals(4000, torch.Generator().manual_seed(0))
    rest = pictures.clone()
    rest[:, :, 4:12, 4:12] -= capitals()[labels]
    assert abs(float(rest.std()) - NOISE) < 0.01
    assert abs(float(rest.mean())) < 0.01
    assert labels.bincount().min() > 300


def test_a_letter_stands_at_multiples_of_the_step():
    for step, places in ((8, 4), (4, 9), (1, 81)):
        pictures, labels = hidden_capitals(3000, torch.Generator().manual_seed(1), step)
        match = torch.nn.functional.conv2d(pictures, capitals())[torch.arange(3000), labels]
        best = match.flatten(1).argmax(1)
        hit = (best // 9 % step == 0) & (best % 9 % step == 0)
        assert float(hit.float().mean()) > 0.9
        assert len(best[hit].unique()) == places


def test_a_letter_stands_at_given_places_alone():
    places = torch.tensor([[0, 8], [3, 5]])
    generator = torch.Generator().manual_seed(3)
    pictures, labels = hidden_capitals(200, generator, noise=0.0, places=places)
    match = torch.nn.functional.conv2d(pictures, capitals())[torch.arange(200), labels]
    assert set(match.flatten(1).argmax(1).tolist()) == {8, 3 * 9 + 5}


def test_captions_say_what_is_drawn():
    pictures, captions = draw_scenes(400, torch.Generator().manual_seed(2))
    for picture, caption in zip(pictures, captions, strict=True):
        axis = 1 if "above" in caption else 2  # the gap between the two runs across it
        lines = picture.sum((0, 3 - axis)).bool()
        ends = lines.int().diff().nonzero()[:, 0].tolist()
        gap = next(k for k in ends if lines[k] and not lines[k + 1])
        named = [COLOURS[word] for word in caption.split() if word in COLOURS]
        parts = picture.split([gap + 1, 15 - gap], dim=axis)
        for part, colour in zip(parts, named, strict=True):
            assert torch.allclose(part.flatten(1).amax(1), torch.tensor(colour))
    assert len(set(captions)) > 130
