// aimock under the same load: `node benchmarks/aimock.mjs MODULE TEXT DELTA_CHARS SECONDS`.
// Serves until its input ends, prints its port, and after each line of input what it has cost so far.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [module, text, deltaChars, seconds] = process.argv.slice(2);
const { LLMock } = await import(pathToFileURL(module));

const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
// The first delta waits, so that all streams are open before one of them ends.
const how = { chunkSize: Number(deltaChars), streamingProfile: { ttft: 1000 * Number(seconds) } };
mock.on({ userMessage: 'hi' }, { content: text }, how);
const url = await mock.start();

const tell = (document) => process.stdout.write(JSON.stringify(document) + '\n');
tell({ port: Number(new URL(url).port) });
for await (const _ of createInterface({ input: process.stdin })) {
  const used = process.cpuUsage();
  tell({ cpu_s: (used.user + used.system) / 1e6, peak_bytes: process.resourceUsage().maxRSS * 1024 });
}
await mock.stop();
