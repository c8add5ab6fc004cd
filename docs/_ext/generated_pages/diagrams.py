"""
State diagrams as SVG, laid out by rank: no program beside Python, no network, no script in the page.

Colours come from the theme by classes that `pages.css` colours, so one picture does for light and dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

_WIDTH = 150
_ROW = 17
_GAP_X = 66
_GAP_Y = 74
_CHARACTER = 6.2


class Edge(NamedTuple):
    """A change from one state to another, and the events that cause it."""

    source: str
    target: str
    events: tuple[str, ...]


class _Box(NamedTuple):
    x: float
    y: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + _WIDTH / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


def state_diagram(
    name: str, states: Sequence[str], edges: Sequence[Edge], stays: Mapping[str, Sequence[str]], *, title: str
) -> str:
    """
    Return an inline SVG.

    Args:
        name: Unique in the page; part of ids.

        states: All states, the first one on top; order inside a rank is kept.

        edges: Changes between different states.

        stays: Events that leave a state as it is; they are inside its box.

        title: What the picture shows, for those who cannot see it.
    """
    ranks = _ranks(states, edges)
    rows: list[list[str]] = [[] for _ in range(max(ranks.values()) + 1)]
    for state in states:
        rows[ranks[state]].append(state)
    columns = max(len(row) for row in rows)
    boxes = _place(rows, stays, columns * _WIDTH + (columns - 1) * _GAP_X)
    left, right = _extent(edges, boxes, ranks)
    width = right - left
    height = max(box.bottom for box in boxes.values()) + 12
    drawn = [
        *_edges(edges, boxes, ranks, name),
        *[_box(state, boxes[state], stays.get(state, ()), _ends(state, edges)) for state in states],
    ]
    labels = _labels(edges, boxes, ranks)
    marker = (
        f'<marker id="{name}-arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 0 8 4 0 8z" class="arrow"/></marker>'
    )
    return (
        '<figure class="diagram"><svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-labelledby="{name}-title" viewBox="{left:.0f} 0 {width:.0f} {height:.0f}" '
        f'style="max-width:{width:.0f}px;min-width:{0.8 * width:.0f}px">'
        f'<title id="{name}-title">{escape(title)}</title><defs>{marker}</defs>'
        f"{''.join(drawn)}{''.join(labels)}</svg></figure>"
    )


def _ranks(states: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the row of each state: the longest way from the first, by edges that lead onward in the order given."""
    order = {state: at for at, state in enumerate(states)}
    ranks = dict.fromkeys(states, 0)
    for state in states:
        for edge in edges:
            if edge.source == state and order[edge.target] > order[state]:
                ranks[edge.target] = max(ranks[edge.target], ranks[state] + 1)
    return ranks


def _is_far(ranks: Mapping[str, int], edge: Edge) -> bool:
    return ranks[edge.target] - ranks[edge.source] != 1


def _place(rows: Sequence[Sequence[str]], stays: Mapping[str, Sequence[str]], width: float) -> dict[str, _Box]:
    boxes: dict[str, _Box] = {}
    y = 12.0
    for row in rows:
        taken = len(row) * _WIDTH + (len(row) - 1) * _GAP_X
        x = (width - taken) / 2
        tallest = 0.0
        for state in row:
            height = 30.0 + _ROW * len(stays.get(state, ())) + (4 if stays.get(state) else 0)
            boxes[state] = _Box(x, y, height)
            tallest = max(tallest, height)
            x += _WIDTH + _GAP_X
        y += tallest + _GAP_Y
    return boxes


def _extent(edges: Sequence[Edge], boxes: Mapping[str, _Box], ranks: Mapping[str, int]) -> tuple[float, float]:
    """Return how far boxes and labels reach to the left and to the right."""
    ends = [(box.x, box.x + _WIDTH) for box in boxes.values()]
    for edge in edges:
        _, (x, _y) = _route(edge, boxes, ranks, edges)
        half = _across(edge) / 2
        ends.append((x - half, x + half))
    return min(left for left, _ in ends) - 8, max(right for _, right in ends) + 8


def _across(edge: Edge) -> float:
    return max(len(event) for event in edge.events) * _CHARACTER + 8


def _ends(state: str, edges: Sequence[Edge]) -> bool:
    return not any(edge.source == state for edge in edges)


def _box(state: str, box: _Box, stays: Sequence[str], end: bool) -> str:
    look = "end" if end else "box"
    rect = f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{_WIDTH}" height="{box.height:.0f}" rx="7" class="{look}"/>'
    lines = [_text(box.middle, box.y + 38 + at * _ROW, event, "text") for at, event in enumerate(stays)]
    return "".join([rect, _text(box.middle, box.y + 20, state, "title"), *lines])


def _text(x: float, y: float, words: str, look: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" class="{look}">{escape(words)}</text>'


def _edges(edges: Sequence[Edge], boxes: Mapping[str, _Box], ranks: Mapping[str, int], name: str) -> list[str]:
    drawn = []
    for edge in edges:
        path, _ = _route(edge, boxes, ranks, edges)
        drawn.append(f'<path d="{path}" class="edge" marker-end="url(#{name}-arrow)"/>')
    return drawn


def _labels(edges: Sequence[Edge], boxes: Mapping[str, _Box], ranks: Mapping[str, int]) -> list[str]:
    drawn = []
    for edge in edges:
        _, (x, y) = _route(edge, boxes, ranks, edges)
        height = 15 * len(edge.events)
        across = _across(edge)
        top = y - height / 2
        drawn.append(
            f'<rect x="{x - across / 2:.0f}" y="{top:.0f}" width="{across:.0f}" height="{height}" rx="3" class="back"/>'
        )
        drawn += [_text(x, top + 11 + at * 15, event, "label") for at, event in enumerate(edge.events)]
    return drawn


def _route(
    edge: Edge, boxes: Mapping[str, _Box], ranks: Mapping[str, int], edges: Sequence[Edge]
) -> tuple[str, tuple[float, float]]:
    """Return the path of an edge and the place of its label."""
    source, target = boxes[edge.source], boxes[edge.target]
    if not _is_far(ranks, edge):
        x1, y1, x2, y2 = source.middle, source.bottom, target.middle, target.y
        if x1 == x2:
            return f"M{x1:.0f} {y1:.0f}V{y2 - 1:.0f}", (x1, (y1 + y2) / 2)
        bend = (y1 + y2) / 2
        return f"M{x1:.0f} {y1:.0f}C{x1:.0f} {bend:.0f} {x2:.0f} {bend:.0f} {x2:.0f} {y2 - 1:.0f}", (
            (x1 + x2) / 2,
            bend,
        )
    # Far ones and those that lead back go round: the first to the right, the next to the left, and so on.
    far = [other for other in edges if _is_far(ranks, other)]
    right = far.index(edge) % 2 == 0
    sign = 1 if right else -1
    x1 = source.x + (_WIDTH if right else 0)
    x2 = target.x + (_WIDTH if right else 0)
    y1, y2 = source.y + source.height / 2, target.y + target.height / 2
    out = sign * 105
    label = (x1 + 3 * (x1 + out) + 3 * (x2 + out) + x2) / 8, (y1 + y2) / 2
    return f"M{x1:.0f} {y1:.0f}C{x1 + out:.0f} {y1:.0f} {x2 + out:.0f} {y2:.0f} {x2 + sign:.0f} {y2:.0f}", label
