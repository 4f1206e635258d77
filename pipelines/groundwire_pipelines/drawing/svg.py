"""A pipeline as an SVG picture: steps with their actions, and the branches between them with their names."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from groundwire_pipelines.actions.definition import Action
from groundwire_pipelines.definition.model import PipelineDefinition, StepDefinition
from groundwire_pipelines.drawing.branches import Branch, back_branches, branches_of, ranks_of
from groundwire_pipelines.drawing.layout import Layout, Point, lay_out

_MARGIN = 32.0
_TITLE_HEIGHT = 44.0
_BOX_HEIGHT = 46.0
_LABEL_HEIGHT = 16.0
_ROW_GAP = 22.0
_LANE_GAP = 18.0
_TURN = 10.0
# Text is monospaced: a character is 0.6 of the font's size wide.
_ID_CHARACTER, _ACTION_CHARACTER, _LABEL_CHARACTER = 7.8, 6.6, 6.6

_STYLE = """
text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2937; }
.title { font-size: 16px; font-weight: 600; }
.box { fill: #f8fafc; stroke: #64748b; stroke-width: 1.25; }
.entry .box { stroke-width: 2.5; stroke: #1d4ed8; }
.branching .box { fill: #eff6ff; stroke: #1d4ed8; }
.guard .box { fill: #fffbeb; stroke: #b45309; }
.end .box { fill: #ecfdf5; stroke: #047857; }
.id { font-size: 13px; font-weight: 600; text-anchor: middle; }
.action { font-size: 11px; fill: #475569; text-anchor: middle; }
.branch { fill: none; stroke: #64748b; stroke-width: 1.25; }
.back { stroke: #b45309; stroke-dasharray: 5 3; }
.label { font-size: 11px; fill: #1d4ed8; text-anchor: middle; stroke: #ffffff; stroke-width: 4; paint-order: stroke; }
.head { fill: #64748b; }
"""


def pipeline_svg(definition: PipelineDefinition, actions: Mapping[str, Action[Any]]) -> str:
    """The picture, top down from the entry step; the same bytes for the same pipeline.

    Blue steps branch, amber ones guard a loop, green ones end the run; a dashed branch leads back.
    """
    entry = definition.settings.entry_step_id
    order = [entry, *(step for step in definition.steps if step != entry)]
    branches = branches_of(definition.steps)
    back = back_branches(order, branches)
    forward = [branch for branch in branches if branch not in back]
    layout = lay_out(
        ranks_of(order, forward),
        {step.id: _box_width(step) for step in definition.steps.values()},
        {branch: len(branch.label) * _LABEL_CHARACTER for branch in forward},
    )
    picture = _Picture(definition.name, layout, forward)
    for branch in forward:
        picture.forward(branch)
    for branch in branches:
        if branch in back:
            picture.back(branch)
    for step in definition.steps.values():
        picture.step(step, _role(step, actions[step.action], entry))
    return picture.text()


def _box_width(step: StepDefinition) -> float:
    return max(len(step.id) * _ID_CHARACTER, len(step.action) * _ACTION_CHARACTER) + 28.0


def _role(step: StepDefinition, action: Action[Any], entry: str) -> str:
    roles = {
        "entry": step.id == entry,
        "end": not action.transitions,
        "guard": action.guards_loops,
        "branching": len(step.transitions) > 1 and not action.guards_loops,
    }
    return " ".join(("step", *(role for role, holds in roles.items() if holds)))


class _Picture:
    """Draws branches first and steps over them."""

    def __init__(self, title: str, layout: Layout, forward: Sequence[Branch]) -> None:
        self._layout = layout
        self._labelled = {layout.bends[branch][0].row for branch in forward if branch.label}
        self._tops, self._bottom = _heights(len(layout.rows), self._labelled)
        left = min(point.x - point.width / 2 for row in layout.rows for point in row)
        self._shift = _MARGIN - left
        self._right = max(point.x + point.width / 2 for row in layout.rows for point in row) + self._shift
        self._right = max(self._right, _MARGIN + len(title) * 9.6)
        self._lanes = 0
        self._root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", role="img")
        ElementTree.SubElement(self._root, "title").text = f"Pipeline {title}"
        ElementTree.SubElement(self._root, "style").text = _STYLE
        marker = ElementTree.SubElement(
            ElementTree.SubElement(self._root, "defs"),
            "marker",
            {"id": "head", "viewBox": "0 0 8 8", "refX": "7.5", "refY": "4", "markerWidth": "8", "markerHeight": "8"},
            orient="auto",
            markerUnits="userSpaceOnUse",
        )
        self._background = ElementTree.SubElement(self._root, "rect", fill="#ffffff")
        ElementTree.SubElement(marker, "path", {"class": "head", "d": "M0,0.5 L8,4 L0,7.5 z"})
        self._text(self._root, "title", _MARGIN, _MARGIN, title)
        self._branches = ElementTree.SubElement(self._root, "g")
        self._labels = ElementTree.SubElement(self._root, "g")

    def forward(self, branch: Branch) -> None:
        """A curve down through the bends, straight where it passes a row."""
        source, target = self._layout.steps[branch.source], self._layout.steps[branch.target]
        x, y = self._x(source), self._tops[source.row] + _BOX_HEIGHT
        path = [f"M{x:.1f},{y:.1f}"]
        bends = self._layout.bends[branch]
        for bend in bends:
            if bend.row % 2 and bend.row not in self._labelled:
                continue
            path.append(_curve(x, y, self._x(bend), self._tops[bend.row]))
            x, y = self._x(bend), self._tops[bend.row] + self._height(bend.row)
            path.append(f"V{y:.1f}")
        path.append(_curve(x, y, self._x(target), self._tops[target.row]))
        self._branch("branch", path)
        if branch.label:
            first = bends[0]
            self._text(self._labels, "label", self._x(first), self._tops[first.row] + 12, branch.label)

    def back(self, branch: Branch) -> None:
        """Right of everything upwards, in a lane of its own."""
        source, target = self._layout.steps[branch.source], self._layout.steps[branch.target]
        self._lanes += 1
        lane = self._right + self._lanes * _LANE_GAP
        start, end = self._x(source) + _TURN, self._x(target) + _TURN
        low, high = self._tops[source.row] + _BOX_HEIGHT, self._tops[target.row]
        path = [
            f"M{start:.1f},{low:.1f}",
            f"q0,{_TURN} {_TURN},{_TURN}",
            f"H{lane - _TURN:.1f}",
            f"q{_TURN},0 {_TURN},-{_TURN}",
            f"V{high - _TURN:.1f}",
            f"q0,-{_TURN} -{_TURN},-{_TURN}",
            f"H{end + _TURN:.1f}",
            f"q-{_TURN},0 -{_TURN},{_TURN}",
            f"V{high:.1f}",
        ]
        self._branch("branch back", path)
        if branch.label:
            self._text(self._labels, "label", start + len(branch.label) * 4 + 2 * _TURN, low + 14, branch.label)

    def step(self, step: StepDefinition, role: str) -> None:
        """A box with the id and the action."""
        point = self._layout.steps[step.id]
        x, top = self._x(point), self._tops[point.row]
        group = ElementTree.SubElement(self._root, "g", {"class": role})
        ElementTree.SubElement(
            group,
            "rect",
            {"class": "box", "x": f"{x - point.width / 2:.1f}", "y": f"{top:.1f}", "rx": "7"},
            width=f"{point.width:.1f}",
            height=f"{_BOX_HEIGHT:.1f}",
        )
        self._text(group, "id", x, top + 20, step.id)
        self._text(group, "action", x, top + 36, step.action)

    def text(self) -> str:
        """The whole document."""
        width = self._right + self._lanes * _LANE_GAP + _MARGIN
        size = {"width": f"{width:.0f}", "height": f"{self._bottom + _MARGIN:.0f}"}
        self._background.attrib.update(size)
        self._root.attrib.update(size, viewBox=f"0 0 {size['width']} {size['height']}")
        ElementTree.indent(self._root)
        return ElementTree.tostring(self._root, encoding="unicode") + "\n"

    def _x(self, point: Point) -> float:
        return point.x + self._shift

    def _height(self, row: int) -> float:
        """How far a branch runs straight down in a row: past a label, or beside a step."""
        return _BOX_HEIGHT if row % 2 == 0 else _LABEL_HEIGHT

    def _branch(self, style: str, path: Sequence[str]) -> None:
        ElementTree.SubElement(
            self._branches, "path", {"class": style, "d": " ".join(path), "marker-end": "url(#head)"}
        )

    def _text(self, parent: ElementTree.Element, style: str, x: float, y: float, content: str) -> None:
        element = ElementTree.SubElement(parent, "text", {"class": style, "x": f"{x:.1f}", "y": f"{y:.1f}"})
        element.text = content


def _heights(rows: int, labelled: set[int]) -> tuple[list[float], float]:
    """The top of each row, and the bottom of the last."""
    tops: list[float] = []
    y = _MARGIN + _TITLE_HEIGHT
    for row in range(rows):
        tops.append(y)
        if row % 2 == 0:
            y += _BOX_HEIGHT + _ROW_GAP
        else:
            y += (_LABEL_HEIGHT + _ROW_GAP) if row in labelled else _LABEL_HEIGHT
    return tops, tops[-1] + _BOX_HEIGHT


def _curve(x: float, y: float, to_x: float, to_y: float) -> str:
    middle = (y + to_y) / 2
    return f"C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}"
