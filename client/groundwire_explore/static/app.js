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
  const drawing = document.getElementById("graph");
  if (drawing) (await import("/static/graph.js")).draw(drawing);
}

// A page that comes back from the browser's memory has its fields as they were when it was left.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  page.removeAttribute("aria-busy");
  for (const field of page.querySelectorAll(":disabled")) field.disabled = false;
});

await load();
