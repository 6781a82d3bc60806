// The AI SDK with the provider that the first argument names.
import { baseURL, consume, load, none, serve } from './common.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;
const { embed, generateText, jsonSchema, Output, streamText, tool } = load('ai');

const providers = {
  '@ai-sdk/openai': (apiKey) => load('@ai-sdk/openai').createOpenAI({ baseURL, apiKey }),
  '@ai-sdk/openai-compatible': (apiKey) =>
    load('@ai-sdk/openai-compatible').createOpenAICompatible({
      name: 'clichain', baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true,
    }),
};
const name = process.argv[2];
const provider = (order) => providers[name](order.apiKey);
const official = name === '@ai-sdk/openai';

function call(order) {
  const { temperature, maxTokens: maxOutputTokens, seed, stop, logprobs } = order.settings;
  const image = order.image && { type: 'file', mediaType: 'image/png', data: order.image };
  return {
    model: provider(order)(order.model), maxRetries: 0, instructions: order.system, messages: [{ role: 'user', content: image ? [{ type: 'text', text: order.prompt }, image] : order.prompt }],
    temperature, maxOutputTokens, seed, stopSequences: stop && [stop],
    ...(order.schema && { output: Output.object({ schema: jsonSchema(order.schema) }) }),
    ...(order.json && { output: Output.json() }),
    ...(order.tools && { tools: { f: tool({ inputSchema: jsonSchema({ type: 'object', properties: {} }) }) } }),
    ...(logprobs && { providerOptions: { openai: { logprobs } } }),
  };
}

const result = async (r, order) => ({
  text: await r.text,
  object: order.schema || order.json ? await r.output : undefined,
  finish: await r.finishReason,
  input: (await r.usage).inputTokens,
  output: (await r.usage).outputTokens,
});

// drops reports whether a client has warned that it does not send a setting.
const drops = (warnings, setting) => warnings?.some((w) => w.feature === setting);

const talk = async (order) => {
  const first = call({ ...order, prompt: order.before });
  const { response } = await generateText(first);
  const r = await generateText({ ...first, messages: [...first.messages, ...response.messages, ...call(order).messages] });
  return result(r, order);
};

await serve({
  answer: async (order) => {
    if (order.settings.n || (order.settings.logprobs && !official)) return none;
    const r = await generateText(call(order));
    return drops(r.warnings, 'stopSequences') ? none : result(r, order);
  },
  headers: async (order) => ({ headers: (await generateText(call(order))).response.headers }),
  stream: async (order, abort) => {
    const r = streamText({ ...call(order), abortSignal: abort.signal, onError: () => {} });
    let failed;
    async function* pieces() {
      for await (const part of r.stream) {
        if (part.type === 'error') failed = part.error;
        if (part.type === 'abort') return;
        if (part.type === 'text-delta') yield part.text;
      }
    }
    const got = await consume(pieces(), order, abort);
    if (failed) throw failed;
    if (order.leave) return { ...got, left: abort.signal.aborted };
    return drops(await r.warnings, 'stopSequences') ? none : { ...(await result(r, order)), ...got };
  },
  talk,
  respondTwice: (order) => (official ? talk(order) : none),
  respond: async (order) => (official ? result(await generateText(call(order)), order) : none),
  embed: (order) => embed({ model: provider(order).embeddingModel(order.model), value: order.prompt, maxRetries: 0 }),
  complete: (order) =>
    generateText({
      model: (provider(order).completion ?? provider(order).completionModel)(order.model), prompt: order.prompt, maxRetries: 0,
    }),
});
