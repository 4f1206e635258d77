// Draws the graph that the tables of the page list: a column for each distance, the node itself in the middle.

import cytoscape from "/static/cytoscape.esm.min.mjs";

const COLUMN = 290;
const ROW = 46;

function elements() {
  const columns = new Map();
  const made = [];
  for (const row of document.querySelectorAll("#graph-nodes tr")) {
    const column = Number(row.dataset.column);
    columns.set(column, [...(columns.get(column) ?? []), row]);
  }
  for (const [column, rows] of columns) {
    rows.forEach((row, place) => {
      made.push({
        data: { id: row.dataset.id, name: row.dataset.name.split(".").slice(-2).join("."), href: row.querySelector("a")?.href ?? "" },
        position: { x: column * COLUMN, y: (place - (rows.length - 1) / 2) * ROW },
        classes: column === 0 ? "centre" : "",
      });
    });
  }
  document.querySelectorAll("#graph-edges tr").forEach((row, number) => {
    made.push({ data: { id: `edge ${number}`, source: row.dataset.from, target: row.dataset.to, type: row.dataset.type } });
  });
  return { made, rows: Math.max(...[...columns.values()].map((rows) => rows.length)) };
}

function styles(element) {
  const colours = getComputedStyle(element);
  const colour = (name) => colours.getPropertyValue(`--${name}`).trim();
  const font = colours.getPropertyValue("--mono");
  return [
    {
      selector: "node",
      style: {
        shape: "round-rectangle", width: 210, height: 30, label: "data(name)", "font-size": 12, "font-family": font,
        "text-valign": "center", "text-wrap": "ellipsis", "text-max-width": 194, color: colour("text"),
        "background-color": colour("raised"), "border-width": 1, "border-color": colour("line-strong"),
      },
    },
    { selector: ".centre", style: { "background-color": colour("accent"), color: colour("on-accent"), "border-width": 0 } },
    { selector: ".near", style: { "border-color": colour("accent"), "border-width": 2 } },
    {
      selector: "edge",
      style: {
        width: 1.2, "curve-style": "bezier", "line-color": colour("line-strong"), "target-arrow-shape": "triangle",
        "target-arrow-color": colour("line-strong"), "arrow-scale": 0.8, label: "data(type)", "font-size": 10,
        color: colour("muted"), "text-background-color": colour("surface"), "text-background-opacity": 1,
        "text-background-padding": 2, "font-family": font,
      },
    },
  ];
}

export function draw(container) {
  const { made, rows } = elements();
  container.style.height = `${Math.min(Math.max(rows * ROW + 60, 220), 760)}px`;
  const graph = cytoscape({
    container,
    elements: made,
    layout: { name: "preset" },
    style: styles(container),
    userZoomingEnabled: false,
    autoungrabify: true,
    minZoom: 0.2,
    maxZoom: 2,
  });
  const fit = () => {
    graph.fit(undefined, 20);
    // Where all of it would be too small to read, its middle is shown at a size that is not.
    graph.zoom(Math.min(Math.max(graph.zoom(), 0.65), 1));
    graph.center(graph.zoom() > 0.65 ? undefined : graph.$(".centre"));
  };
  fit();
  graph.on("tap", "node", (event) => {
    const { href } = event.target.data();
    if (href) location.assign(href);
  });
  graph.on("mouseover", "node", (event) => {
    event.target.addClass("near");
    container.style.cursor = event.target.data("href") ? "pointer" : "default";
  });
  graph.on("mouseout", "node", (event) => {
    event.target.removeClass("near");
    container.style.cursor = "grab";
  });
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      const { zoom } = button.dataset;
      if (zoom === "fit") fit();
      else graph.zoom({ level: graph.zoom() * Number(zoom), renderedPosition: { x: container.clientWidth / 2, y: container.clientHeight / 2 } });
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => graph.style(styles(container)));
}
