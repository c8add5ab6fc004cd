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

const write = (document) => process.stdout.write(JSON.stringify(document) + '\n');
write({ version: process.version });
for await (const line of createInterface({ input: process.stdin })) {
  const { items, start, apart } = JSON.parse(line);
  try {
    write({ result: (apart ? probed : folded)(items, start ?? EMPTY) });
  } catch (error) {
    write({ raised: { message: error.stack } });
  }
}
