// Loads the content of a page with the key of the session. The key comes in the fragment of the address that the
// terminal shows, which browsers never send, and is kept where only pages of this very origin, port included, read it.

const KEY = "groundwire-explore-key";
const page = document.getElementById("page");
const status = document.getElementById("status");

const given = new URLSearchParams(location.hash.slice(1)).get("key");
if (given) {
  localStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname + location.search);
}

function alone(title, text) {
  const main = document.createElement("main");
  main.className = "alone";
  const heading = document.createElement("h1");
  heading.textContent = title;
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  main.append(heading, paragraph);
  page.replaceChildren(main);
  status.textContent = `${title}. ${text}`;
}

function show(html) {
  // The server has escaped every text of an index; the page's policy runs no script that stands in it.
  page.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  const main = page.querySelector("main");
  document.title = `${main.dataset.title} · Groundwire`;
  status.textContent = main.dataset.status;
  for (const form of page.querySelectorAll("form")) form.addEventListener("submit", send);
  for (const svg of page.querySelectorAll(".drawing svg")) {
    for (const kind of ["pointerover", "focusin", "pointerleave", "focusout"]) svg.addEventListener(kind, point);
  }
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

// The address shall hold what was chosen and nothing else.
function send(event) {
  status.textContent = "Searching…";
  page.setAttribute("aria-busy", "true");
  for (const field of event.target.elements) {
    if (field.name && field.value === "") field.disabled = true;
  }
}

// Shows the lines and labels of the box, or the line, that the reader points at or has reached by keyboard.
function point(event) {
  const svg = event.currentTarget;
  const leaves = event.type === "pointerleave" || event.type === "focusout";
  const target = leaves ? document.activeElement : event.target;
  const box = svg.contains(target) ? target.closest("[data-box]")?.dataset.box : undefined;
  const line = leaves ? undefined : event.target.closest("[data-from]")?.dataset;
  svg.classList.toggle("chosen", Boolean(box ?? line));
  for (const part of svg.querySelectorAll("[data-from]")) {
    const { from, to, at } = part.dataset;
    const belongs = line ? from === line.from && to === line.to : from === box || to === box;
    // A label has a place at each end of its line: it is shown at the end that the reader does not point at.
    part.classList.toggle("near", belongs && (at === undefined || at !== (line ? line.from : box)));
  }
}

page.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const text = button.parentElement.querySelector("textarea")?.value;
  if (button.dataset.download) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = button.dataset.download;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser may still read it
    status.textContent = `${link.download} is downloaded.`;
  } else if (button.dataset.copy || "copyText" in button.dataset) {
    await navigator.clipboard.writeText(button.dataset.copy ?? text);
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1500);
    status.textContent = "Copied.";
  }
});

async function load() {
  let response;
  try {
    response = await fetch(`/view${location.pathname}${location.search}`, {
      headers: { "X-Groundwire-Key": localStorage.getItem(KEY) ?? "" },
    });
  } catch {
    alone("Not running", "Start groundwire explore again, and open the address that it prints.");
    return;
  }
  if (!response.headers.get("Content-Type")?.startsWith("text/html")) {
    alone("Problem", `groundwire explore answered ${response.status}; its terminal says more. Load the page again.`);
    return;
  }
  show(await response.text());
}

// A page that comes back from the browser's memory has its fields as they were when it was left.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  page.removeAttribute("aria-busy");
  for (const field of page.querySelectorAll(":disabled")) field.disabled = false;
});

await load();
