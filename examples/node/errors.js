// Groundwire's errors: a status, and what grpc-status-details-bin says about it.

import { status } from "@grpc/grpc-js";
import { fileURLToPath } from "node:url";
import { loadSync } from "@grpc/proto-loader";

const rpc = loadSync(fileURLToPath(new URL("google_rpc.proto", import.meta.url)), { keepCase: true, longs: Number });

export class CallFailure extends Error {
  /** From what grpc-js gives to the callback of a call. */
  constructor(method, error) {
    super(error.details);
    this.method = method;
    this.status = status[error.code];
    this.reason = "";
    this.metadata = {};
    this.violations = [];
    /** What the server asks to wait, in milliseconds; undefined when it does not say. */
    this.retryAfter = undefined;
    const [encoded] = error.metadata.get("grpc-status-details-bin");
    for (const detail of encoded ? decode("Status", encoded).details : []) this.#read(detail);
  }

  #read({ type_url: type, value }) {
    switch (type) {
      case "type.googleapis.com/google.rpc.ErrorInfo":
        ({ reason: this.reason = "", metadata: this.metadata = {} } = decode("ErrorInfo", value));
        break;
      case "type.googleapis.com/google.rpc.BadRequest":
        this.violations = decode("BadRequest", value).field_violations;
        break;
      case "type.googleapis.com/google.rpc.RetryInfo": {
        const { seconds = 0, nanos = 0 } = decode("RetryInfo", value).retry_delay;
        this.retryAfter = seconds * 1e3 + nanos / 1e6;
      }
    }
  }

  /** Busy servers say when to come back. RESOURCE_EXHAUSTED without that, such as an oversized message, stays so. */
  get mayBeTriedAgain() {
    return this.status === "UNAVAILABLE" || (this.status === "RESOURCE_EXHAUSTED" && this.retryAfter !== undefined);
  }
}

function decode(message, bytes) {
  return rpc[`google.rpc.${message}`].deserialize(bytes);
}
