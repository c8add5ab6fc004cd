// What a page in TypeScript does with the module. Compiled strictly, never run; every union is matched to its end, so
// that a member that is added makes this file fail until it is thought of.
import { EMPTY, fold, reduce } from './fold.mjs';
import type { Content, Event, Item, LiveEvent, Message, Outcome, Part, Record } from './fold.mjs';
import type { Transcript, UnknownEvent } from './fold.mjs';

function never(value: never): never {
  throw new TypeError(JSON.stringify(value));
}

/** Fold what comes, and return the outcomes that a page has to act on. */
export function watch(items: Iterable<Item>, start: Transcript = EMPTY): { transcript: Transcript; gaps: Outcome[] } {
  const gaps: Outcome[] = [];
  let transcript = start;
  for (const item of items) {
    const { transcript: next, outcome } = reduce(transcript, item);
    transcript = next;
    switch (outcome) {
      case 'gap':
        gaps.push(outcome);
        break;
      case 'applied': case 'duplicate': case 'conflict': case 'late': case 'orphan': case 'ignored':
        break;
      default:
        never(outcome);
    }
  }
  return { transcript: fold([], transcript), gaps };
}

/** Return the text of a message, and of each of its kinds. */
export function textOf(message: Message): string {
  switch (message.type) {
    case 'user':
      return message.content.map(shown).join('');
    case 'assistant':
      return [...(message.parts ?? []).map(drawn), message.error?.message ?? ''].join('');
    case 'compaction':
      return message.text ?? '';
    default:
      return never(message);
  }
}

function drawn(part: Part): string {
  switch (part.type) {
    case 'text': case 'reasoning':
      return part.text;
    case 'media':
      return part.uri ?? part.data ?? '';
    case 'tool':
      return `${part.name} ${part.status} ${part.attempt ?? 0} ${(part.output ?? []).map(shown).join('')}`;
    case 'opaque':
      return '';
    default:
      return never(part);
  }
}

function shown(content: Content): string {
  switch (content.type) {
    case 'text':
      return content.text;
    case 'json':
      return JSON.stringify(content.value);
    case 'media':
      return content.media_type;
    default:
      return never(content);
  }
}

/** Return how much of a fragment came before. */
export function offsetOf(event: LiveEvent): number {
  return event.type === 'tool.progress' ? 0 : event.offset;
}

/** Return the tokens of a step that has ended. */
export function tokensOf(event: Event): number | undefined {
  return event.type === 'step.ended' || event.type === 'step.failed' ? event.usage?.output_tokens : undefined;
}

export const later: UnknownEvent = { type: 'text.begun', v: 3 };
export const stored: Record = { session_id: 's1', seq: 1, at: '2026-11-30T00:00:00Z', event: later };

/** Return the text that a record has completed; its event may be of a newer version, with any fields. */
export function completedBy({ event }: Record): string | undefined {
  return event.type === 'text.ended' && 'text' in event ? event.text : undefined;
}

export function refused(transcript: Transcript, message: Message): void {
  // @ts-expect-error A transcript is never changed.
  transcript.messages.push(message);
  // @ts-expect-error A field that equals its default is missing.
  if (message.type === 'assistant') message.parts.length;
  // @ts-expect-error State never leaves for a browser.
  if (message.type === 'assistant') message.state;
}
