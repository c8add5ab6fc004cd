// Folds one vector from each line of its input with the module named as its argument, and writes what came of it.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { EMPTY, fold, reduce } = await import(pathToFileURL(process.argv[2]));

/** Freeze a document, so that a change of it raises. */
function frozen(value) {
  if (value && typeof value === 'object' && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

/** Return the transcript and the outcomes of items, and whether both ways to fold them agree. */
function folded(items, start) {
  let transcript = start;
  const outcomes = items.map((item) => {
    const reduced = reduce(frozen(transcript), frozen(item));
    transcript = reduced.transcript;
    return reduced.outcome;
  });
  const agree = JSON.stringify(fold(items, start)) === JSON.stringify(transcript);
  return { transcript, outcomes, agree };
}

/** Return what each item alone makes of a transcript: the outcome, and the message that it is about. */
function probed(items, start) {
  return items.map((item) => {
    const { transcript, outcome } = reduce(frozen(start), item);
    return [outcome, transcript.messages.find((each) => each.id === item.message_id) ?? null];
  });
}

/** Return how many items of lists, and units of texts, the methods read, copy and move while all items are folded. */
function counted(items, start) {
  let count = 0;
  const plain = [];
  const countIn = (prototype, name, weight) => {
    const method = prototype[name];
    plain.push([prototype, name, method]);
    prototype[name] = function (...given) {
      count += weight(this, given);
      return method.apply(this, given);
    };
  };
  const all = ({ length }) => length;
  const behind = ({ length }, [start = 0]) => (start < 0 ? Math.min(length, -start) : Math.max(0, length - start));
  for (const name of ['map', 'filter', 'some', 'every', 'includes', 'indexOf']) countIn(Array.prototype, name, all);
  for (const name of ['slice', 'splice']) countIn(Array.prototype, name, behind);
  for (const name of ['slice', 'endsWith', 'at', 'charAt']) countIn(String.prototype, name, all);
  for (const name of ['atob', 'btoa']) countIn(globalThis, name, (_, [text]) => text.length);
  for (const name of ['find', 'findIndex', 'findLast', 'findLastIndex']) {
    countIn(Array.prototype, name, (_, given) => {
      const [is] = given;
      given[0] = (...each) => ((count += 1), is(...each));
      return 0;
    });
  }
  try {
    fold(items, start);
  } finally {
    for (const [prototype, name, method] of plain) prototype[name] = method;
  }
  return count;
}

const write = (document) => process.stdout.write(JSON.stringify(document) + '\n');
write({ version: process.version });
for await (const line of createInterface({ input: process.stdin })) {
  const { items, start, way = 'folded' } = JSON.parse(line);
  try {
    write({ result: { counted, folded, probed }[way](items, start ?? EMPTY) });
  } catch (error) {
    write({ raised: { message: error.stack } });
  }
}
