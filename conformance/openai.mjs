// Sends one request with the unmodified npm client and prints the result as JSON. The first argument selects the request.
// CLIENT_MODULES is the directory of the package. The client reads the endpoint and the token from its own environment
// variables. A line on stdin aborts the request.
import { createRequire } from 'node:module';
import { once } from 'node:events';

const { OpenAI } = createRequire(process.env.CLIENT_MODULES + '/')('openai');
const client = new OpenAI({ maxRetries: 0 });
const [what, model, schema] = process.argv.slice(2);
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'say hi' },
];
const abort = new AbortController();
once(process.stdin, 'data').then(() => abort.abort());

const whole = ({ data, response }) => ({
  text: data.choices[0].message.content,
  finish: data.choices[0].finish_reason,
  backend: response.headers.get('clichain-backend'),
  output: data.usage.completion_tokens,
});

const ways = {
  complete: async () => whole(await client.chat.completions.create({ model, messages }).withResponse()),
  json: async () =>
    whole(
      await client.chat.completions
        .create({
          model,
          messages,
          response_format: { type: 'json_schema', json_schema: { name: 'city', strict: true, schema: JSON.parse(schema) } },
        })
        .withResponse(),
    ),
  stream: async () => {
    const { data, response } = await client.chat.completions
      .create({ model, messages, stream: true, stream_options: { include_usage: true } }, { signal: abort.signal })
      .withResponse();
    const result = { text: '', backend: response.headers.get('clichain-backend') };
    for await (const chunk of data) {
      result.text += chunk.choices[0]?.delta?.content ?? '';
      result.finish = chunk.choices[0]?.finish_reason ?? result.finish;
      result.output = chunk.usage?.completion_tokens ?? result.output;
    }
    return result;
  },
  response: async () => {
    const stream = client.responses.stream({ model, input: 'say hi', instructions: 'Be brief.' });
    const final = await stream.finalResponse();
    return { text: final.output_text, finish: final.status, backend: final.clichain.backend, output: final.usage.output_tokens };
  },
  tools: async () =>
    whole(
      await client.chat.completions
        .create({ model, messages, tools: [{ type: 'function', function: { name: 'f' } }] })
        .withResponse(),
    ),
};

let result;
try {
  result = await ways[what === 'cancel' ? 'stream' : what]();
} catch (e) {
  result = { error: e.constructor.name, status: e.status, param: e.param };
}
console.log(JSON.stringify(result));
process.exit();
