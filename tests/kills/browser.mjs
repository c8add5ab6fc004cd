// Pages that watch sessions as an `EventSource` does, with the module named as the argument, asked line by line.
import { once } from 'node:events';
import { get } from 'node:http';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { EMPTY, reduce } = await import(pathToFileURL(process.argv[2]));

const AGAIN_MS = 20;

/** A page: what it shows, and what has happened to it. */
class Page {
  /** *urls* are those of servers, one after another; *texts* are the texts that answers may have in the end. */
  constructor(urls, texts) {
    this.urls = urls;
    this.texts = texts;
    this.shown = { transcript: EMPTY, opened: 0, snapshots: 0, streamed: 0, refused: [], faults: [], errors: 0 };
    this.leaving = new AbortController();
    this.last = '';
  }

  /** Connect to the first server until the session exists, and to the next one after each cut, with the id of the last event. */
  async watch() {
    for (let tries = 0; !this.leaving.signal.aborted; tries += this.shown.opened > 0) {
      await this.connect(this.urls[tries % this.urls.length]).catch((error) => {
        if (error.code === undefined) this.shown.faults.push(error.stack); // not that of a connection
      });
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  async connect(url) {
    const headers = { accept: 'text/event-stream', ...(this.last && { 'last-event-id': this.last }) };
    const [response] = await once(get(url, { headers, agent: false, signal: this.leaving.signal }), 'response');
    if (response.statusCode !== 200) {
      response.resume();
      // A page opens its events once the session exists; after that, any refusal would end its `EventSource`.
      if (this.shown.opened) this.shown.refused.push(response.statusCode);
      return;
    }
    this.shown.opened += 1;
    const decoder = new TextDecoder();
    let rest = '';
    for await (const piece of response) {
      const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n');
      rest = blocks.pop();
      blocks.forEach((block) => this.take(block));
    }
  }

  take(block) {
    const fields = {};
    for (const line of block.split('\n')) {
      const at = line.indexOf(':');
      if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
    }
    if ('id' in fields) this.last = fields.id;
    if (fields.event) this.shown.errors += fields.event === 'error';
    else if ('data' in fields) this.show(JSON.parse(fields.data));
  }

  show(document) {
    const { shown } = this;
    const { transcript, outcome } = reduce(shown.transcript, document);
    // A record comes once. Live events may come again: after a cut each open text is sent from its start.
    const isInPlace = outcome === 'applied' || (outcome === 'duplicate' && document.type === 'frame');
    if (!isInPlace) shown.faults.push(`${document.type} ${document.seq ?? document.after}: ${outcome}`);
    shown.transcript = transcript;
    shown.snapshots += document.type === 'snapshot';
    shown.streamed += document.type === 'frame';
    const last = transcript.messages.at(-1);
    const text = (last?.parts ?? []).map((part) => (part.type === 'text' ? part.text ?? '' : '')).join('');
    if (last?.type === 'assistant' && !this.texts.some((whole) => whole.startsWith(text))) shown.faults.push(text);
  }
}

const pages = new Map();
const write = (document) => process.stdout.write(JSON.stringify(document) + '\n');
write({ version: process.version });
for await (const line of createInterface({ input: process.stdin })) {
  const { call, name, urls, texts } = JSON.parse(line);
  if (call === 'watch') {
    pages.set(name, new Page(urls, texts));
    pages.get(name).watch();
  }
  const { shown, leaving } = pages.get(name);
  write({ result: { ...shown, transcript: JSON.stringify(shown.transcript) } });
  if (call === 'leave') leaving.abort();
}
