// Evidence for a question, printed as JSON lines: search -> expand -> fetch, or one call of GatherEvidence.

import { CallFailure } from "./errors.js";
import { GroundwireClient } from "./groundwire.js";
import { parseOptions, readOptionFile, USAGE, UsageError } from "./options.js";

async function printEvidence(client, options) {
  const evidence = await client.call("GatherEvidence", {
    scope: scopeOf(options),
    ...limits(options),
    question: options.query,
    phrasings: options.phrasing === undefined ? [] : [options.phrasing],
    budget_tokens: options["budget-tokens"],
  });
  for (const { number, id, citation, token_count, parts } of evidence.passages) {
    print({ type: "text", number, id, citation, token_count, text: parts.map((part) => part.text).join("\n…\n") });
  }
  for (const { id, citation } of evidence.named) print({ type: "named", id, citation });
  if (evidence.weak) print({ type: "weak", reason: evidence.weak.reason });
  print({ type: "done", index: evidence.index, used_tokens: evidence.used_tokens });
}

async function printActions(client, options) {
  const scope = scopeOf(options);
  const found = await client.call("SearchNodes", {
    scope,
    ...limits(options),
    search_type: `SEARCH_TYPE_${(options["search-type"] ?? "unspecified").toUpperCase()}`,
    query: options.query,
    top_k: options["top-k"],
  });
  for (const { rank, score, id } of found.hits) print({ type: "hit", rank, score, id });
  // The next calls read the index version that the search read.
  scope.active_index = found.index;
  const seed_ids = found.hits.map((hit) => hit.id);
  const used_tokens = seed_ids.length ? await printNeighbourhood(client, options, scope, seed_ids) : 0;
  print({ type: "done", index: found.index, used_tokens });
}

async function printNeighbourhood(client, options, scope, seed_ids) {
  const graph = await client.call("ExpandDependencyTree", {
    scope,
    ...limits(options),
    seed_ids,
    max_depth: options["max-depth"],
    max_nodes: options["max-nodes"],
    edge_allowlist: ["*"],
  });
  for (const { from_id, to_id, edge_type } of graph.edges) print({ type: "edge", from: from_id, to: to_id, edge_type });
  const evidence = await client.call("FetchNodeTexts", {
    scope,
    ...limits(options),
    seed_ids,
    nodes: graph.nodes,
    budget_tokens: options["budget-tokens"],
  });
  for (const { id, is_seed, depth, location, token_count, text } of evidence.texts) {
    const { path = "", start_line = 0 } = location ?? {};
    print({ type: "text", id, is_seed, depth, path, start_line, token_count, text });
  }
  return evidence.used_tokens;
}

function scopeOf({ repository, branch }) {
  return { repository, branch };
}

/** What the caller may see, and which nodes it asks for. */
function limits({ "acl-tags": tags, languages }) {
  return {
    access: tags === undefined ? undefined : { acl_tags_any: tags.split(",") },
    filter: languages === undefined ? undefined : { languages: languages.split(",") },
  };
}

function print(line) {
  console.log(JSON.stringify(line));
}

function connect(options) {
  const read = (name) => (options[name] === undefined ? undefined : readOptionFile(options, name));
  const [ca, cert, key] = ["ca", "cert", "key"].map(read);
  const readToken = () => read("token-file")?.toString("utf8").trim();
  return new GroundwireClient(options.server, { ca, cert, key, deadline: options.deadline, readToken });
}

try {
  const options = parseOptions(process.argv.slice(2));
  const client = connect(options);
  await (options.call === "evidence" ? printEvidence : printActions)(client, options).finally(() => client.close());
} catch (error) {
  if (error instanceof CallFailure) {
    const { method, status, message, reason, metadata, violations } = error;
    print({ type: "error", method, status, message, reason, metadata, violations });
    process.exitCode = 1;
  } else if (error instanceof UsageError) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exitCode = 2;
  } else {
    throw error;
  }
}
