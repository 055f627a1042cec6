"""Sphinx's settings for the site; staff.site.build copies it beside the pages."""

project = "Language models, from counting to GPT"
extensions = ["myst_nb", "sphinx-mathjax-offline"]
root_doc = "README"
html_theme = "sphinx_book_theme"
html_title = project
html_theme_options = {"show_navbar_depth": 1, "use_fullscreen_button": False}
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 3
# JupyterLab's anchors, in which the notebooks' links are written.
myst_heading_slug_func = "staff.site.build.anchor_of"
suppress_warnings = ["mystnb.unknown_mime_type", "config.cache"]

# On a narrow screen sphinx-book-theme shows its own buttons for the two side bars, whereas
# pydata-sphinx-theme opens them by the first of each kind only, which is hidden there.
SIDE_BARS = """document.addEventListener("click", event => {
  for (const [name, width] of [["primary", 992], ["secondary", 1200]]) {
    const first = document.querySelector(`.${name}-toggle`);
    const used = event.target.closest(`.${name}-toggle`);
    const bar = document.getElementById(`pst-${name}-sidebar-modal`);
    if (used && used !== first && bar && !bar.open && innerWidth < width) first.click();
  }
});"""


def setup(app):
    """The first page stands at the site's root as well, under the name that servers look for."""
    app.add_js_file(None, body=SIDE_BARS)

    def add_index(app, error):
        if error is None and app.builder.format == "html":
            first = app.outdir / "README.html"
            (app.outdir / "index.html").write_bytes(first.read_bytes())

    app.connect("build-finished", add_index)
