// A client of RetrievalService and QueryService: mutual TLS or plaintext, a deadline for each call, retries that wait as long as the server asks.

import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

import { CallFailure } from "./errors.js";

const PROTOS = fileURLToPath(new URL("../../protos", import.meta.url));
const MAX_ATTEMPTS = 4;
const FIRST_BACKOFF = 200;
const MAX_BACKOFF = 2_000;

const { groundwire } = grpc.loadPackageDefinition(
  loadSync(["groundwire/v1/retrieval.proto", "groundwire/v1/query.proto"], {
    includeDirs: [PROTOS],
    keepCase: true,
    defaults: true,
    enums: String,
    longs: Number,
  }),
);

export class GroundwireClient {
  #services;
  #deadline;
  #readToken;

  /** `ca`, `cert`, `key`: PEM bytes, absent for plaintext; `deadline`: seconds for each call; `readToken` gives a bearer token or nothing. */
  constructor(server, { ca, cert, key, deadline, readToken }) {
    const credentials = ca ? grpc.credentials.createSsl(ca, key, cert) : grpc.credentials.createInsecure();
    const retrieval = new groundwire.v1.RetrievalService(server, credentials);
    // Both use one connection.
    const queries = new groundwire.v1.QueryService(server, credentials, { channelOverride: retrieval.getChannel() });
    this.#services = { retrieval, queries };
    this.#deadline = deadline;
    this.#readToken = readToken;
  }

  close() {
    this.#services.retrieval.close();
  }

  /** Calls `method`; its attempts share one deadline. Rejects with CallFailure. */
  async call(method, request) {
    const deadline = Date.now() + this.#deadline * 1_000;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(method, request, deadline);
      } catch (failure) {
        const pause = Math.max(backoff(attempt), failure.retryAfter ?? 0);
        if (!failure.mayBeTriedAgain || attempt === MAX_ATTEMPTS || Date.now() + pause >= deadline) throw failure;
        console.error(`${method}: ${failure.status}, trying again in ${(pause / 1_000).toFixed(2)} s`);
        await sleep(pause);
      }
    }
  }

  #attempt(method, request, deadline) {
    const metadata = new grpc.Metadata();
    const token = this.#readToken();
    if (token) metadata.set("authorization", `Bearer ${token}`);
    return new Promise((resolve, reject) => {
      const service = method === "GatherEvidence" ? this.#services.queries : this.#services.retrieval;
      service[method](request, metadata, { deadline }, (error, response) =>
        error ? reject(new CallFailure(method, error)) : resolve(response),
      );
    });
  }
}

/** Milliseconds after a failed attempt: doubling, with a fifth of jitter so that callers do not come back together. */
function backoff(attempt) {
  return Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** (attempt - 1)) * (0.8 + 0.4 * Math.random());
}
