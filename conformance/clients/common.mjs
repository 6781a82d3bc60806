// Reads orders from stdin, one in each line, and prints the outcome of each as a line of JSON. CLIENT_MODULES is the
// directory of the npm packages. The endpoint and the token come from the variables of the official clients.
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';

export const load = createRequire(process.env.CLIENT_MODULES + '/');
export const baseURL = process.env.OPENAI_BASE_URL;

// none is the outcome of an order that the client has no function for.
export const none = { none: true };

// consume collects the pieces of a stream. It aborts the stream after the first piece if the order says so.
export async function consume(pieces, order, abort) {
  const got = { text: '', pieces: 0 };
  for await (const piece of pieces) {
    if (!piece) continue;
    got.text += piece;
    got.pieces++;
    if (order.leave) abort.abort();
  }
  return got;
}

// describe returns what a program can read from an error of a client.
function describe(e) {
  const cause = e.lastError ?? e;
  const headers = cause.headers ?? cause.responseHeaders;
  return {
    class: cause.constructor.name === 'Object' ? '' : cause.constructor.name,
    status: cause.status ?? cause.statusCode ?? 0,
    message: String(cause.message),
    param: cause.param ?? cause.data?.error?.param ?? '',
    retryAfter: headers?.get?.('retry-after') ?? headers?.['retry-after'] ?? '',
  };
}

export async function serve(functions) {
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line);
    const run = functions[order.function];
    let outcome = none;
    try {
      if (run) outcome = await run({ apiKey: process.env.OPENAI_API_KEY, settings: {}, ...order }, new AbortController());
    } catch (e) {
      outcome = { error: describe(e) };
    }
    console.log(JSON.stringify(outcome));
  }
  process.exit();
}
