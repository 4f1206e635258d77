// The command line.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

export const USAGE = `usage: npm start -- --repository NAME --branch NAME --query TEXT [options]

  --server HOST:PORT    the server (default localhost:50051)
  --ca, --cert, --key   PEM files for mutual TLS, all three; plaintext without them
  --call NAME           actions (search, expand, fetch; the default) or evidence (one call)
  --phrasing TEXT       for evidence: the query in the words of code, such as "sign cookie secret_key"
  --acl-tags TAGS       what the caller may see besides public nodes, such as billing,legal
  --languages NAMES     texts of these languages alone, such as csharp,sql
  --search-type TYPE    hybrid, semantic or bm25 (default: what the index has data for)
  --top-k N             most hits (default 5)
  --max-depth N         edges from a hit (default 1)
  --max-nodes N         most nodes of the walk (default 50)
  --budget-tokens N     most tokens of text (default 2000)
  --deadline SECONDS    for each call, its retries included (default 10)
  --token-file FILE     bearer token, read anew for each attempt; only over TLS`;

const REQUIRED = ["repository", "branch", "query"];
const TLS = ["ca", "cert", "key"];
const OTHERS = ["server", "call", "phrasing", "acl-tags", "languages", "search-type", "deadline", "token-file"];
const NUMBERS = { "top-k": 5, "max-depth": 1, "max-nodes": 50, "budget-tokens": 2000 };
const CALLS = ["actions", "evidence"];
const SEARCH_TYPES = ["hybrid", "semantic", "bm25"];

export class UsageError extends Error {}

/** The options of `argv`. Throws UsageError for what cannot be used; numbers out of range are for the server. */
export function parseOptions(argv) {
  const values = parse(argv);
  const isSecured = [...TLS, "token-file"].some((name) => values[name] !== undefined);
  for (const name of isSecured ? [...TLS, ...REQUIRED] : REQUIRED) {
    if (values[name] === undefined) throw new UsageError(`--${name} is required`);
  }
  values.server ??= "localhost:50051";
  for (const name of Object.keys(NUMBERS)) values[name] = number(name, values[name] ?? NUMBERS[name]);
  values.deadline = Number(values.deadline ?? 10);
  if (!(values.deadline > 0 && values.deadline <= 3600)) {
    throw new UsageError("--deadline: must be a number above 0 and at most 3600");
  }
  values.call ??= "actions";
  if (!CALLS.includes(values.call)) throw new UsageError(`--call: ${values.call}: must be actions or evidence`);
  const searchType = values["search-type"];
  if (searchType !== undefined && !SEARCH_TYPES.includes(searchType)) {
    throw new UsageError(`--search-type: ${searchType}: must be hybrid, semantic or bm25`);
  }
  return values;
}

function number(name, text) {
  const value = Number(text);
  if ((value | 0) !== value) throw new UsageError(`--${name}: ${text}: must be a whole number of 32 bits`);
  return value;
}

function parse(argv) {
  const names = [...REQUIRED, ...TLS, ...Object.keys(NUMBERS), ...OTHERS];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  try {
    return parseArgs({ args: argv, options }).values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}

/** The bytes of the file that an option names. */
export function readOptionFile(options, name) {
  try {
    return readFileSync(options[name]);
  } catch (error) {
    throw new UsageError(`--${name}: ${error.message}`);
  }
}
