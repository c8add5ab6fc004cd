// A program that answers each line of JSON with one. Its first line says which version of the client it has.
import { Console } from 'node:console';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

// Standard output is for answers; what a client logs goes elsewhere.
globalThis.console = new Console(process.stderr);

/** Return the version of an installed package, which need not export its package.json. */
function versionOf(name) {
  return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8')).version;
}

/** Return what an exception of a client says. */
function refusal(error) {
  const classes = [];
  for (let type = Object.getPrototypeOf(error); type; type = Object.getPrototypeOf(type)) {
    classes.push(type.constructor.name);
  }
  return {
    classes,
    message: String(error.message),
    status_code: error.status ?? error.statusCode ?? null,
    body: error.error ?? error.responseBody ?? null,
  };
}

/** Collect a stream, only the first so many of its events when that is said. */
export async function collect(stream, first) {
  const found = [];
  for await (const each of stream) {
    found.push(each);
    if (found.length === first) break;
  }
  return found;
}

/** Answer every line of the input with what its call returns. */
export async function answerLines(name, calls) {
  const tell = (document) => process.stdout.write(JSON.stringify(document) + '\n');
  tell({ version: versionOf(name) });
  for await (const line of createInterface({ input: process.stdin })) {
    const { call, ...request } = JSON.parse(line);
    try {
      tell({ result: (await calls[call](request)) ?? null });
    } catch (error) {
      tell({ raised: refusal(error) });
    }
  }
}
