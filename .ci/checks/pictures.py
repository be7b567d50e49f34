"""Pictures of what the action posts: the pages of `tests/snapshots`, as GitHub shows them, made with Chromium.

Usage: .ci/pages pictures OUT [SCENE]... Prints the height of each page, and fails if the medium drift is taller than 640 px at 800 px.
The rendering follows GitHub's: CommonMark with tables and inline HTML, and a style of our own that has GitHub's sizes.
"""

import pathlib
import re
import subprocess
import sys

from markdown_it import MarkdownIt

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STYLE = """
:root { color-scheme: light dark; --fg: #1f2328; --bg: #ffffff; --soft: #f6f8fa; --line: #d1d9e0; --link: #0969da;
  --add: #dafbe1; --cut: #ffebe9; --code: #818b981f; }
[data-theme=dark] { --fg: #f0f6fc; --bg: #0d1117; --soft: #151b23; --line: #3d444d; --link: #4493f8;
  --add: #12261e; --cut: #25171c; --code: #656c7633; }
* { box-sizing: border-box; }
body { margin: 0; padding: 16px; background: var(--bg); color: var(--fg); overflow-wrap: break-word;
  font: 14px/1.5 "Liberation Sans", Arial, "Noto Color Emoji", sans-serif; }
a { color: var(--link); text-decoration: underline; }
h3 { font-size: 1.25em; line-height: 1.25; margin: 0 0 16px; } h4 { font-size: 1em; margin: 24px 0 16px; }
p, ul, table, pre, details { margin: 0 0 16px; }
code { font: 85%/1.45 "Liberation Mono", monospace; background: var(--code); padding: .2em .4em; border-radius: 6px;
  white-space: break-spaces; }
pre { background: var(--soft); padding: 16px; border-radius: 6px; overflow: auto; font-size: 85%; line-height: 1.45; }
pre code { background: none; padding: 0; font-size: 100%; white-space: pre-wrap; }
pre .add { background: var(--add); display: block; } pre .cut { background: var(--cut); display: block; }
table { border-collapse: collapse; display: block; max-width: 100%; overflow: auto; }
th, td { border: 1px solid var(--line); padding: 6px 13px; text-align: left; }
sub { font-size: 75%; vertical-align: baseline; }
body > :last-child { margin-bottom: 0; }
"""


def page(markdown: str, theme: str) -> str:
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)

    def coloured(block: re.Match) -> str:
        lines = block[1].rstrip("\n").split("\n")
        kinds = {"+": "add", "-": "cut"}
        spans = [f'<span class="{kinds.get(line[:1], "")}">{line}</span>' for line in lines]
        return "<pre><code>" + "".join(spans) + "</code></pre>"

    html = re.sub(r'<pre><code class="language-diff">(.*?)</code></pre>', coloured, html, flags=re.S)
    return f'<!doctype html><html data-theme="{theme}"><meta charset="utf-8"><style>{STYLE}</style><body>{html}</body></html>'


def chromium(*args: str) -> str:
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
    done = subprocess.run(["chromium", *flags, *args], capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


def height(html: str, path: pathlib.Path, width: int) -> int:
    script = "<script>document.title = document.documentElement.scrollHeight</script>"
    path.write_text(html.replace("</body>", script + "</body>"))
    dom = chromium(f"--window-size={width},100", "--dump-dom", path.as_uri())
    return int(re.search(r"<title>(\d+)</title>", dom)[1])


def main() -> int:
    out = pathlib.Path(sys.argv[1])
    only = sys.argv[2:]
    out.mkdir(parents=True, exist_ok=True)
    tall = 0
    snapshots = ROOT / "tests/snapshots"
    for path in sorted([*snapshots.glob("*.comment.md"), *snapshots.glob("pages/*.md")]):
        scene = path.name.removesuffix(".md").removesuffix(".comment")
        text = path.read_text().replace("$VERSION", "0.1.0")
        if not text.strip() or (only and scene not in only):
            continue
        for view, width, theme in [("", 800, "light"), ("-dark", 800, "dark"), ("-phone", 390, "light")]:
            html = page(text, theme)
            file = out / f"{scene}{view}.html"
            pixels = height(html, file, width)
            file.write_text(html)
            picture = out / f"{scene}{view}.png"
            chromium(f"--window-size={width},{pixels}", f"--screenshot={picture}", file.as_uri())
            file.unlink()
            print(f"{scene}{view}: {pixels} px")
            if scene == "medium-drift" and not view:
                tall = pixels
    return 1 if tall > 640 else 0


if __name__ == "__main__":
    sys.exit(main())
