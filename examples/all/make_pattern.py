"""Makes pattern.png, the picture of the README's curl lines: two gradients under a chequer board."""

from pathlib import Path

from PIL import Image

picture = Image.new("RGB", (32, 24))
for y in range(24):
    for x in range(32):
        picture.putpixel((x, y), (x * 8, y * 10, 128 if (x // 8 + y // 8) % 2 else 64))
picture.save(Path(__file__).with_name("pattern.png"))
