// Runs jobs with an npm library, as the README of the library does. The first argument names the library. Each line on
// stdin is a job in JSON, and each line on stdout is its outcome. Go runs this file with --eval in the directory that
// contains node_modules.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

// Each library has ask(order, prompt, text, signal), which calls text() when the answer begins and returns the whole answer.
// A library with conversations also has open(order), which returns one with ask(prompt, text) and close().
const libraries = {
  'claude-agent-sdk': async () => {
    const { query } = await import('@anthropic-ai/claude-agent-sdk');
    const options = (order) => ({
      pathToClaudeCodeExecutable: order.cli,
      env: order.env,
      cwd: order.work,
      includePartialMessages: true,
      ...(order.full && { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true }),
      ...(order.lean && { tools: [], settingSources: [], strictMcpConfig: true }),
    });
    const answer = async (messages, text) => {
      for (let next = await messages.next(); !next.done; next = await messages.next()) {
        const message = next.value;
        if (message.event?.delta?.type === 'text_delta') text();
        if (message.type !== 'result') continue;
        if (message.is_error) throw new Error(message.result ?? message.subtype);
        return message.result;
      }
      throw new Error('no result');
    };
    return {
      async ask(order, prompt, text, signal) {
        const abortController = new AbortController();
        signal.addEventListener('abort', () => abortController.abort());
        const messages = query({ prompt, options: { ...options(order), abortController } });
        const result = await answer(messages, text);
        for await (const _ of messages); // wait for the end of the CLI
        return result;
      },
      open(order) {
        const waiting = [];
        let wake = () => {};
        const push = (item) => (waiting.push(item), wake());
        const prompts = (async function* () {
          for (;;) {
            while (waiting.length === 0) await new Promise((resolve) => (wake = resolve));
            const content = waiting.shift();
            if (content === null) return;
            yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
          }
        })();
        const messages = query({ prompt: prompts, options: options(order) });
        return {
          ask: (prompt, text) => (push(prompt), answer(messages, text)),
          async close() {
            push(null);
            for await (const _ of messages);
          },
        };
      },
    };
  },

  'codex-sdk': async () => {
    const { Codex } = await import('@openai/codex-sdk');
    const start = (order) =>
      new Codex({ codexPathOverride: order.cli, env: order.env }).startThread({
        workingDirectory: order.work,
        skipGitRepoCheck: true,
        ...(order.full && { sandboxMode: 'danger-full-access', approvalPolicy: 'never' }),
      });
    const answer = async (thread, prompt, text, signal) => {
      let result;
      for await (const event of (await thread.runStreamed(prompt, { signal })).events) {
        if (event.item?.type === 'agent_message') text((result = event.item.text));
        if (event.type === 'turn.failed') throw new Error(event.error.message);
      }
      return result;
    };
    return {
      ask: (order, prompt, text, signal) => answer(start(order), prompt, text, signal),
      open(order) {
        const thread = start(order);
        return { ask: (prompt, text) => answer(thread, prompt, text), close() {} };
      },
    };
  },

  'ai-sdk-provider-claude-code': async () => {
    const { streamText } = await import('ai');
    const { createClaudeCode } = await import('ai-sdk-provider-claude-code');
    return {
      async ask(order, prompt, text, abortSignal) {
        const claude = createClaudeCode({
          defaultSettings: {
            pathToClaudeCodeExecutable: order.cli,
            env: order.env,
            cwd: order.work,
            ...(order.full && { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true }),
            ...(order.lean && { tools: [], settingSources: [], strictMcpConfig: true }),
          },
        });
        let failure;
        let result = '';
        const stream = streamText({ model: claude('sonnet'), prompt, abortSignal, onError: ({ error }) => (failure = error) });
        for await (const part of stream.textStream) {
          text();
          result += part;
        }
        if (failure) throw failure;
        return result;
      },
    };
  },
};

const library = await libraries[process.argv.at(-1)]();

async function one(order, prompt, session) {
  const began = performance.now();
  const call = { first: 0 };
  const text = () => (call.first ||= performance.now() - began);
  const signal = order.timeout ? AbortSignal.timeout(order.timeout) : new AbortController().signal;
  try {
    call.text = await (session ? session.ask(prompt, text) : library.ask(order, prompt, text, signal));
  } catch (error) {
    call.error = String(error);
  }
  return { ...call, took: performance.now() - began };
}

async function perform(order) {
  const calls = [];
  const session = order.warm && order.slots === 1 ? library.open?.(order) : undefined;
  const prompts = order.prompts.entries();
  const worker = async () => {
    for (const [i, prompt] of prompts) calls[i] = await one(order, prompt, session);
  };
  await Promise.all(Array.from({ length: order.slots }, worker));
  await session?.close();
  return calls;
}

// The peak memory of this process, in bytes.
const peak = () => 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);

console.log('{}'); // reports that the library is loaded
for await (const line of createInterface({ input: process.stdin })) {
  const began = performance.now();
  const calls = await perform(JSON.parse(line));
  console.log(JSON.stringify({ calls, took: performance.now() - began, peak: peak() }));
}
process.exit();
