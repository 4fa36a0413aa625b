"""Takes the README's pictures of the demo's runs, with Chromium, from a TensorBoard that serves the real logs.

Nothing on the page is changed but one thing: paths are shortened to the project's folder, as in the README's texts.

make screenshots                       # all, into docs/images
make screenshots ARGS="vae out/"       # those whose name holds "vae", into out/
"""

import argparse
import dataclasses
import io
import sys
import urllib.parse
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import Page, sync_playwright

from demo import serve
from demo.runs import LOGS, ROOT
from scripts.dev import find_browser

WIDTH, HEIGHT, MARGIN = 1280, 1200, 24  # CSS pixels: the window, and what is left below the page

# Takes a prefix out of every text of the page.
SHORTEN = """(body, prefix) => {
  const texts = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    if (text.data.includes(prefix)) text.data = text.data.replaceAll(prefix, "");
}"""


@dataclasses.dataclass(frozen=True)
class Picture:
    """One picture: the file's name, the run, dark or light, and more parameters of the page's link."""

    name: str
    run: str
    dark: bool = False
    view: tuple[tuple[str, str], ...] = ()

    @property
    def link(self) -> str:
        """The address without the host, as a user's deep link has it."""
        parameters = {"run": f"{self.run}/gradhealth", **dict(self.view)}
        return "/#gradhealth&" + urllib.parse.urlencode({f"p.gradhealth.{k}": v for k, v in parameters.items()})


PICTURES = (
    Picture("healthy", "healthy_gru"),
    Picture("seq2seq_gru", "seq2seq_gru"),
    Picture("vae_recurrent_decoder", "vae_recurrent_decoder"),
    Picture("audio_gru", "audio_gru"),
    Picture("audio_gru_state_variable", "audio_gru_state_variable"),
    Picture("tf1_gru", "tf1_gru"),
    Picture("tf1_gru_dark", "tf1_gru", dark=True),
    Picture("feedback_autoencoder", "feedback_autoencoder_keras3"),
)


def take(page: Page, url: str, picture: Picture) -> Image.Image:
    """The page as it is when everything has been drawn, as high as its content."""
    page.emulate_media(color_scheme="dark" if picture.dark else "light")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto("about:blank")  # or a link that differs in the part after # only would not load the page
    page.goto(f"{url}/?darkMode={str(picture.dark).lower()}{picture.link.removeprefix('/')}")
    frame = page.frame_locator("iframe").first
    frame.locator(".verdict h1").wait_for(timeout=60_000)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)  # curves and cells are drawn after the answers have come
    frame.locator("body").evaluate(SHORTEN, f"{ROOT}/")
    return cropped(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))


def cropped(image: Image.Image) -> Image.Image:
    """The image without the empty rows at its end, but for a margin."""
    ground = Image.new("RGB", image.size, image.getpixel((2, image.height - 2)))
    box = ImageChops.difference(image, ground).getbbox()
    return image.crop((0, 0, image.width, min(image.height, (box[3] if box else 0) + MARGIN)))


def main() -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="make screenshots", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("only", nargs="?", default="", help="a part of the names of the pictures to take")
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "docs" / "images", help="the folder they go to")
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    port = serve.free_port(None)
    board = serve.start(LOGS, port)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
            page = browser.new_page()
            for picture in PICTURES:
                if args.only in picture.name:
                    image = take(page, f"http://localhost:{port}", picture)
                    path = args.out / f"{picture.name}.png"
                    image.save(path, optimize=True)
                    print(f"{path}  {image.width} × {image.height}  {path.stat().st_size // 1024} KB", flush=True)
            browser.close()
    finally:
        board.terminate()
        board.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
