"""What train.py needs to know about pictures: how they become the model's input, and how digits are drawn as pictures.

`prepare` is the same arithmetic as in digits.ts; the model learns from what it gives, and the tests hold the two
together.
"""

import numpy as np
from PIL import Image, ImageFilter

SIDE = 8
FULL = 16.0
"""The most that a cell of the training data can hold: the pixels of a 4 x 4 block."""


def prepare(pixels):
    """A grey picture, uint8 [h, w], becomes the 64 cells that the model takes, float32 from 0 to 16."""
    border = np.concatenate([pixels[0], pixels[-1], pixels[1:-1, 0], pixels[1:-1, -1]])
    background = int(np.sort(border)[len(border) // 2])
    darker, lighter = background - int(pixels.min()), int(pixels.max()) - background
    sign = -1.0 if darker > lighter else 1.0
    contrast = max(darker, lighter)
    if contrast < 24:
        raise ValueError("no digit")
    ink = np.clip((pixels - float(background)) * sign / contrast, 0, 1)
    marked = ink >= 0.25
    rows, columns = np.flatnonzero(marked.any(axis=1)), np.flatnonzero(marked.any(axis=0))
    top, left = rows[0], columns[0]
    height, width = rows[-1] + 1 - top, columns[-1] + 1 - left
    side = max(height, width)
    cells = shares(height, side) @ ink[top : top + height, left : left + width] @ shares(width, side).T
    return (cells * (FULL / cells.max())).astype(np.float32).reshape(-1)


def shares(length, side):
    """[8, length]: the share of every cell that each of `length` pixels covers, when they lie in the middle of
    `side`."""
    start = (side - length) / 2
    pixel = start + np.arange(length)
    cell = np.arange(SIDE)[:, None] * side / SIDE
    overlap = np.minimum(cell + side / SIDE, pixel + 1) - np.maximum(cell, pixel)
    return np.clip(overlap, 0, None) * SIDE / side


def draw(cells, rng, size=None, filter=None, wild=True):
    """A digit of 8 x 8 cells becomes ink, uint8 [h, w] with 255 for full, scaled, turned a little, blurred and thinned
    or thickened at random."""
    ink = Image.fromarray(np.uint8(np.round(cells.reshape(SIDE, SIDE) * 255 / FULL)), "L")
    if size is None:
        height = int(rng.integers(12, 97))
        size = (max(8, int(height * rng.uniform(0.6, 1.3))), height)
    if filter is None:
        filter = rng.choice([Image.NEAREST, Image.BILINEAR, Image.BICUBIC, Image.LANCZOS])
    ink = ink.resize(size, Image.Resampling(int(filter)))
    if not wild:
        return np.asarray(ink)
    if rng.random() < 0.7:
        # A canvas of twice the size, so that no corner is cut off.
        canvas = Image.new("L", (size[0] * 2, size[1] * 2))
        canvas.paste(ink, (size[0] // 2, size[1] // 2))
        shear = rng.uniform(-0.25, 0.25)
        canvas = canvas.transform(canvas.size, Image.AFFINE, (1, shear, -shear * size[1], 0, 1, 0), Image.BILINEAR)
        ink = canvas.rotate(rng.uniform(-12, 12), Image.BILINEAR)
    if rng.random() < 0.4:
        ink = ink.filter(ImageFilter.GaussianBlur(rng.uniform(0, size[1] / 16)))
    drawn = np.asarray(ink, dtype=np.float64) / 255
    if rng.random() < 0.5:
        # Steps between ink and paper as sharp as a pen's; the level decides how thick the strokes are.
        level, slope = rng.uniform(0.25, 0.65), rng.uniform(2, 12)
        drawn = np.clip((drawn - level) * slope + 0.5, 0, 1)
    return np.uint8(np.round(drawn * 255))


def lay(ink, rng, paper, pen, margins=None, noise=0):
    """Ink becomes a grey picture, uint8 [h, w]: in the colour `pen` on `paper`, with margins (top, right, bottom,
    left)."""
    if margins is None:
        most = max(2, max(ink.shape) // 2)
        margins = rng.integers(1, most, 4)
    top, right, bottom, left = margins
    share = np.pad(ink / 255.0, ((top, bottom), (left, right)))
    picture = paper + (pen - paper) * share
    if noise:
        picture = picture + rng.normal(0, noise, picture.shape)
    return np.uint8(np.clip(np.round(picture), 0, 255))


def random_picture(cells, rng):
    """A digit of 8 x 8 cells becomes a grey picture of random size, shape and colours."""
    while True:
        ink = draw(cells, rng)
        if ink.max() < 128:
            continue
        dark, light = rng.integers(0, 80), rng.integers(160, 256)
        paper, pen = (light, dark) if rng.random() < 0.5 else (dark, light)
        return lay(ink, rng, float(paper), float(pen), noise=rng.choice([0, 0, 2, 5]))
