// LangChain.
import { baseURL, consume, load, serve } from './common.mjs';

const { ChatOpenAI, OpenAI, OpenAIEmbeddings } = load('@langchain/openai');
const { HumanMessage, SystemMessage } = load('@langchain/core/messages');

const common = (order) => ({ model: order.model, apiKey: order.apiKey, maxRetries: 0, configuration: { baseURL } });

function chat(order) {
  const { stop, seed, ...settings } = order.settings;
  return new ChatOpenAI({ ...common(order), ...settings, streamUsage: true, stop: stop && [stop], useResponsesApi: order.responses });
}

const options = (order) => ({
  ...(order.settings.seed && { seed: order.settings.seed }),
  ...(order.json && { response_format: { type: 'json_object' } }),
  ...(order.tools && { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }] }),
});

function messages(order) {
  const content = order.image
    ? [{ type: 'text', text: order.prompt }, { type: 'image_url', image_url: { url: order.image } }]
    : order.prompt;
  return [...(order.system ? [new SystemMessage(order.system)] : []), new HumanMessage({ content })];
}

const result = (m) => ({
  text: m.text, finish: m.response_metadata.finish_reason ?? m.response_metadata.status,
  input: m.usage_metadata?.input_tokens, output: m.usage_metadata?.output_tokens,
});

const structured = (order) =>
  chat(order).withStructuredOutput(order.schema, { name: 'city', method: 'jsonSchema', includeRaw: true });

const answer = async (order) => {
  if (order.schema) {
    const { raw, parsed } = await structured(order).invoke(messages(order));
    return { ...result(raw), object: parsed };
  }
  return result(await chat(order).invoke(messages(order), options(order)));
};

const talk = async (order) => {
  const first = messages({ ...order, prompt: order.before });
  const said = await chat(order).invoke(first);
  return result(await chat(order).invoke([...first, said, new HumanMessage(order.prompt)]));
};

await serve({
  answer,
  respond: (order) => answer({ ...order, responses: true }),
  stream: async (order, abort) => {
    let all;
    if (order.schema) {
      for await (const part of await structured(order).stream(messages(order))) all = { ...all, ...part };
      return { ...result(all.raw), object: all.parsed };
    }
    async function* pieces() {
      for await (const chunk of await chat(order).stream(messages(order), { ...options(order), signal: abort.signal })) {
        all = all ? all.concat(chunk) : chunk;
        yield chunk.text;
      }
    }
    const got = await consume(pieces(), order, abort).catch((e) => {
      if (abort.signal.aborted) return { text: all.text };
      throw e;
    });
    return { ...result(all), ...got, left: abort.signal.aborted };
  },
  talk,
  respondTwice: (order) => talk({ ...order, responses: true }),
  embed: (order) => new OpenAIEmbeddings(common(order)).embedQuery(order.prompt),
  complete: (order) => new OpenAI(common(order)).invoke(order.prompt),
});
