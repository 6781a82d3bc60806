// The official client from npm.
import { baseURL, consume, load, serve } from './common.mjs';

const { OpenAI } = load('openai');
const client = (order) => new OpenAI({ baseURL, apiKey: order.apiKey, maxRetries: 0 });

function body(order) {
  const { maxTokens, ...settings } = order.settings;
  const content = order.image
    ? [{ type: 'text', text: order.prompt }, { type: 'image_url', image_url: { url: order.image } }]
    : order.prompt;
  return {
    model: order.model,
    messages: [...(order.system ? [{ role: 'system', content: order.system }] : []), { role: 'user', content }],
    ...settings,
    ...(maxTokens && { max_tokens: maxTokens }),
    ...(order.json && { response_format: { type: 'json_object' } }),
    ...(order.schema && {
      response_format: { type: 'json_schema', json_schema: { name: 'city', strict: true, schema: order.schema } },
    }),
    ...(order.tools && { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }] }),
  };
}

const whole = (data) => ({
  text: data.choices[0].message.content,
  object: data.choices[0].message.parsed ?? undefined,
  finish: data.choices[0].finish_reason,
  input: data.usage.prompt_tokens,
  output: data.usage.completion_tokens,
});

await serve({
  answer: async (order) => {
    const chat = client(order).chat.completions;
    return whole(await (order.schema ? chat.parse(body(order)) : chat.create(body(order))));
  },
  headers: async (order) => {
    const { response } = await client(order).chat.completions.create(body(order)).withResponse();
    return { headers: Object.fromEntries(response.headers) };
  },
  stream: async (order, abort) => {
    const chunks = await client(order).chat.completions.create(
      { ...body(order), stream: true, stream_options: { include_usage: true } },
      { signal: abort.signal },
    );
    const more = {};
    async function* pieces() {
      for await (const chunk of chunks) {
        more.finish = chunk.choices[0]?.finish_reason ?? more.finish;
        more.input = chunk.usage?.prompt_tokens ?? more.input;
        more.output = chunk.usage?.completion_tokens ?? more.output;
        yield chunk.choices[0]?.delta?.content;
      }
    }
    const got = await consume(pieces(), order, abort);
    return { ...got, ...more, left: abort.signal.aborted };
  },
  talk: async (order) => {
    const chat = client(order).chat.completions;
    const first = body({ ...order, prompt: order.before });
    const { message } = (await chat.create(first)).choices[0];
    const next = { role: 'user', content: order.prompt };
    return whole(await chat.create({ ...first, messages: [...first.messages, message, next] }));
  },
  respond: async (order) => {
    const { model, system: instructions, prompt: input } = order;
    const data = await client(order).responses.create({ model, instructions, input });
    return {
      text: data.output_text, finish: data.status, input: data.usage.input_tokens, output: data.usage.output_tokens,
    };
  },
  respondTwice: async (order) => {
    const { model, before, prompt } = order;
    const input = [{ role: 'user', content: before }];
    const first = await client(order).responses.create({ model, input });
    const data = await client(order).responses.create({
      model, input: [...input, ...first.output, { role: 'user', content: prompt }],
    });
    return { text: data.output_text };
  },
  models: async (order) => {
    const names = [];
    for await (const model of client(order).models.list()) names.push(model.id);
    return { names };
  },
  embed: (order) => client(order).embeddings.create({ model: order.model, input: order.prompt }),
  complete: (order) => client(order).completions.create({ model: order.model, prompt: order.prompt }),
});
