// Folds the events of assistant-events into a transcript, in a browser or in Node. No dependencies.
//
// Equals the reducer of the Python library on redacted events, except that offsets count UTF-16 units, as strings do.
// A transcript is the document that the library writes: fields that equal their default are missing, a message without
// parts has no `parts`. It is never changed: `reduce` returns another one, which shares all that stayed the same.

// generated: tables
const VERSION = 1;

// Version of each event.
const EVENTS = {
  'prompt.submitted': 1,
  'history.rewound': 1,
  'step.started': 1,
  'step.restarted': 1,
  'step.ended': 1,
  'step.failed': 1,
  'text.started': 1,
  'text.ended': 1,
  'reasoning.started': 1,
  'reasoning.ended': 1,
  'media.started': 1,
  'media.ended': 1,
  'tool.input.started': 1,
  'tool.input.ended': 1,
  'tool.called': 1,
  'tool.approval.requested': 1,
  'tool.approved': 1,
  'tool.started': 1,
  'tool.success': 1,
  'tool.failed': 1,
  'opaque.received': 1,
  'compaction.started': 1,
  'compaction.ended': 1,
  'compaction.failed': 1,
  'text.delta': 1,
  'reasoning.delta': 1,
  'media.delta': 1,
  'tool.input.delta': 1,
  'tool.progress': 1,
  'compaction.delta': 1,
};

// Why an event is out of place; `again` when it may be the one that was here before.
const REJECTIONS = new Set(['again', 'conflict', 'late', 'orphan']);

// Phase of a message, then event: the phase that follows, or why the event is out of place.
const MESSAGE = {
  unknown: {
    'prompt.submitted': 'prompt',
    'step.started': 'running',
    'compaction.started': 'compacting',
    otherwise: 'orphan',
  },
  prompt: { 'prompt.submitted': 'again', 'history.rewound': 'rewound', otherwise: 'conflict' },
  running: {
    'prompt.submitted': 'conflict',
    'history.rewound': 'rewound',
    'step.started': 'conflict',
    'step.ended': 'ended',
    'step.failed': 'failed',
    'compaction.started': 'conflict',
    'compaction.ended': 'conflict',
    'compaction.failed': 'conflict',
    'compaction.delta': 'conflict',
    otherwise: 'running',
  },
  ended: {
    'prompt.submitted': 'conflict',
    'history.rewound': 'rewound',
    'step.started': 'conflict',
    'step.ended': 'again',
    'step.failed': 'again',
    'tool.approval.requested': 'ended',
    'tool.approved': 'ended',
    'tool.started': 'ended',
    'tool.success': 'ended',
    'tool.failed': 'ended',
    'compaction.started': 'conflict',
    'compaction.ended': 'conflict',
    'compaction.failed': 'conflict',
    'tool.progress': 'ended',
    'compaction.delta': 'conflict',
    otherwise: 'late',
  },
  failed: {
    'prompt.submitted': 'conflict',
    'history.rewound': 'rewound',
    'step.started': 'conflict',
    'step.restarted': 'running',
    'step.ended': 'again',
    'step.failed': 'again',
    'tool.failed': 'failed',
    'compaction.started': 'conflict',
    'compaction.ended': 'conflict',
    'compaction.failed': 'conflict',
    'compaction.delta': 'conflict',
    otherwise: 'late',
  },
  compacting: {
    'history.rewound': 'rewound',
    'compaction.ended': 'compacted',
    'compaction.failed': 'compacted',
    'compaction.delta': 'compacting',
    otherwise: 'conflict',
  },
  compacted: {
    'history.rewound': 'rewound',
    'compaction.ended': 'again',
    'compaction.failed': 'again',
    'compaction.delta': 'late',
    otherwise: 'conflict',
  },
  rewound: { 'history.rewound': 'again', otherwise: 'late' },
};

// The same for fragments, by kind and phase, and for calls, by phase.
const FRAGMENT = {
  text: {
    absent: { 'text.started': 'open', 'text.ended': 'orphan', 'text.delta': 'orphan' },
    open: { 'text.started': 'conflict', 'text.ended': 'closed', 'text.delta': 'open' },
    closed: { 'text.started': 'open', 'text.ended': 'again', 'text.delta': 'late' },
  },
  reasoning: {
    absent: { 'reasoning.started': 'open', 'reasoning.ended': 'orphan', 'reasoning.delta': 'orphan' },
    open: { 'reasoning.started': 'conflict', 'reasoning.ended': 'closed', 'reasoning.delta': 'open' },
    closed: { 'reasoning.started': 'open', 'reasoning.ended': 'again', 'reasoning.delta': 'late' },
  },
  media: {
    absent: { 'media.started': 'open', 'media.ended': 'orphan', 'media.delta': 'orphan' },
    open: { 'media.started': 'conflict', 'media.ended': 'closed', 'media.delta': 'open' },
    closed: { 'media.started': 'open', 'media.ended': 'again', 'media.delta': 'late' },
  },
};
const CALL = {
  unknown: {
    'tool.input.started': 'input open',
    'tool.input.ended': 'orphan',
    'tool.called': 'called',
    'tool.approval.requested': 'orphan',
    'tool.approved': 'orphan',
    'tool.started': 'orphan',
    'tool.success': 'orphan',
    'tool.failed': 'orphan',
    'tool.input.delta': 'orphan',
    'tool.progress': 'orphan',
  },
  'input open': {
    'tool.input.started': 'conflict',
    'tool.input.ended': 'input ended',
    'tool.called': 'conflict',
    'tool.approval.requested': 'conflict',
    'tool.approved': 'conflict',
    'tool.started': 'conflict',
    'tool.success': 'conflict',
    'tool.failed': 'conflict',
    'tool.input.delta': 'input open',
    'tool.progress': 'conflict',
  },
  'input ended': {
    'tool.input.started': 'conflict',
    'tool.input.ended': 'again',
    'tool.called': 'called',
    'tool.approval.requested': 'conflict',
    'tool.approved': 'conflict',
    'tool.started': 'conflict',
    'tool.success': 'conflict',
    'tool.failed': 'settled',
    'tool.input.delta': 'late',
    'tool.progress': 'conflict',
  },
  called: {
    'tool.input.started': 'conflict',
    'tool.input.ended': 'again',
    'tool.called': 'again',
    'tool.approval.requested': 'called',
    'tool.approved': 'called',
    'tool.started': 'called',
    'tool.success': 'settled',
    'tool.failed': 'settled',
    'tool.input.delta': 'late',
    'tool.progress': 'called',
  },
  settled: {
    'tool.input.started': 'conflict',
    'tool.input.ended': 'again',
    'tool.called': 'again',
    'tool.approval.requested': 'late',
    'tool.approved': 'late',
    'tool.started': 'late',
    'tool.success': 'again',
    'tool.failed': 'again',
    'tool.input.delta': 'late',
    'tool.progress': 'late',
  },
};
// end of tables

export const EMPTY = Object.freeze({ v: VERSION, messages: Object.freeze([]), seq: 0, rewound: Object.freeze([]) });

/** Apply all items in order, and return the transcript. Items that are out of place change nothing. */
export function fold(items, start = EMPTY) {
  const lists = new Lists();
  let transcript = start;
  for (const item of items) transcript = reduceItem(transcript, item, lists).transcript;
  return transcript;
}

/** Apply an event, record, frame or snapshot, and return the new transcript and the outcome. */
export function reduce(transcript, item) {
  return reduceItem(transcript, item, new Lists());
}

function reduceItem(transcript, item, lists) {
  switch (item.type ?? ('event' in item ? 'record' : 'frame')) {
    case 'snapshot': {
      const { type, ...snapshot } = item;
      return { transcript: { ...EMPTY, ...snapshot }, outcome: 'applied' };
    }
    case 'record': {
      const { seq, at, event } = item;
      if (seq !== transcript.seq + 1) return { transcript, outcome: seq <= transcript.seq ? 'duplicate' : 'gap' };
      return reduceEvent({ ...transcript, seq }, event, lists, at);
    }
    case 'frame':
      return reduceFrame(transcript, item, lists);
    default:
      return reduceEvent(transcript, item, lists);
  }
}

function reduceFrame(transcript, { after, events }, lists) {
  if (after !== transcript.seq) return { transcript, outcome: after < transcript.seq ? 'late' : 'gap' };
  const outcomes = [];
  for (const event of events) {
    const reduced = reduceEvent(transcript, event, lists);
    transcript = reduced.transcript;
    outcomes.push(reduced.outcome);
  }
  return { transcript, outcome: outcomes.includes('applied') ? 'applied' : (outcomes[0] ?? 'ignored') };
}

function reduceEvent(transcript, event, lists, at) {
  const { type, message_id: id } = event;
  if (!Object.hasOwn(EVENTS, type) || EVENTS[type] !== (event.v ?? 1)) return { transcript, outcome: 'ignored' };
  const { messages, rewound } = transcript;
  const place = lists.find(messages, id);
  const message = messages[place];
  const parts = message?.parts ?? [];
  const partPlace = lists.find(parts, addressOf(event));
  const part = parts[partPlace];
  const phase = message ? messagePhase(message) : lists.find(rewound, id) < 0 ? 'unknown' : 'rewound';
  const why = rejection(phase, event, message, part);
  if (why === 'again') {
    return { transcript, outcome: !message || repeats(event, message, part) ? 'duplicate' : 'conflict' };
  }
  if (why) return { transcript, outcome: why };
  if (type === 'history.rewound') {
    let gone = rewound;
    for (const each of messages.slice(place)) gone = lists.added(gone, each.id);
    return { transcript: { ...transcript, messages: lists.cut(messages, place), rewound: gone }, outcome: 'applied' };
  }
  let changed;
  if (Object.hasOwn(PART_CHANGES, type)) {
    const after = PART_CHANGES[type](event, part, at);
    if (typeof after === 'string') return { transcript, outcome: after };
    // A fragment of a kind that has ended is followed by another one.
    const isNew = !part || (part.type !== 'tool' && part.status !== 'streaming');
    const list = isNew ? lists.added(parts, after) : lists.replaced(parts, partPlace, after);
    changed = { ...message, parts: list };
  } else {
    changed = CHANGES[type](event, message, at);
    if (typeof changed === 'string') return { transcript, outcome: changed };
  }
  // A message is added at the end; an answer that has not read the last prompts, before the first of them.
  const unread = message || !event.before ? -1 : lists.find(messages, event.before);
  const list = message
    ? lists.replaced(messages, place, changed)
    : lists.added(messages, changed, unread < 0 ? messages.length : unread);
  return { transcript: { ...transcript, messages: list }, outcome: 'applied' };
}

/**
 * The lists of one fold. Those that it has made are its own until it returns, and are changed in place.
 *
 * Most searches find what they look for at the end. A list gets an index when they have read as much as that costs.
 */
class Lists {
  #own = new WeakSet();
  #searches = new WeakMap();

  /** Return the place of the last item with a key; -1 when there is none. */
  find(list, key) {
    const last = list.length - 1;
    if (last < 0 || key === undefined) return -1;
    if (keyOf(list[last]) === key) return last;
    const search = this.#searches.get(list) ?? { read: 0, places: undefined };
    if (search.places) return search.places.get(key) ?? -1;
    const place = list.findLastIndex((item) => keyOf(item) === key);
    search.read += list.length - place;
    if (search.read > 4 * list.length) search.places = new Map(list.map((item, at) => [keyOf(item), at]));
    this.#searches.set(list, search);
    return place;
  }

  /** Add an item at a place. */
  added(list, item, place = list.length) {
    const own = this.#owned(list);
    own.splice(place, 0, item);
    const places = this.#searches.get(own)?.places;
    for (let at = place; places && at < own.length; at += 1) places.set(keyOf(own[at]), at);
    return own;
  }

  /** Put an item in the place of one with the same key. */
  replaced(list, place, item) {
    const own = this.#owned(list);
    own[place] = item;
    return own;
  }

  /** Remove all items from a place on. */
  cut(list, place) {
    const own = this.#owned(list);
    const places = this.#searches.get(own)?.places;
    for (const item of own.splice(place)) places?.delete(keyOf(item));
    return own;
  }

  #owned(list) {
    if (this.#own.has(list)) return list;
    const copy = list.slice();
    this.#own.add(copy);
    if (this.#searches.has(list)) this.#searches.set(copy, this.#searches.get(list));
    this.#searches.delete(list);
    return copy;
  }
}

/** What a message, a part or a rewound id is found by; a fragment by the table of its kind, which equals no id. */
function keyOf(item) {
  return item.type === 'tool' ? item.call_id : (FRAGMENT[item.type] ?? item.id ?? item);
}

/** The key of the part that an event is about; `undefined` when it is about none. */
function addressOf({ type, call_id }) {
  return Object.hasOwn(CALL.unknown, type) ? call_id : FRAGMENT[kindOf(type)];
}

function kindOf(type) {
  return type.slice(0, type.indexOf('.'));
}

// -- phases: how far a message, the fragments of a kind and a call are

function messagePhase({ type, status }) {
  if (type === 'user') return 'prompt';
  if (type === 'compaction') return status === 'running' ? 'compacting' : 'compacted';
  return status === 'completed' ? 'ended' : status;
}

function fragmentPhase(part) {
  if (!part) return 'absent';
  return part.status === 'streaming' ? 'open' : 'closed';
}

function callPhase(call) {
  if (!call) return 'unknown';
  if (call.status === 'called') return 'called';
  if (call.status !== 'streaming') return 'settled';
  return call.input_status === 'streaming' ? 'input open' : 'input ended';
}

// -- rejections: why an event is out of place; nothing when it is not

function rejection(phase, event, message, part) {
  const after = MESSAGE[phase][event.type] ?? MESSAGE[phase].otherwise;
  const inside = phaseInside(event, part);
  // In a closed message an equal second end of a fragment or call is still a duplicate.
  if (REJECTIONS.has(after)) return after === 'late' && inside === 'again' ? 'again' : after;
  if (REJECTIONS.has(inside)) return inside;
  return GUARDS[event.type]?.(event, message, part);
}

/** Return the phase that follows for the fragment or call of an event, or why there is none. */
function phaseInside({ type }, part) {
  if (Object.hasOwn(CALL.unknown, type)) return CALL[callPhase(part)][type];
  return FRAGMENT[kindOf(type)]?.[fragmentPhase(part)][type];
}

const GUARDS = {
  'step.ended': mayEnd,
  'step.failed': mayEnd,
  'step.restarted': (_, message) =>
    partsOf(message).some((part) => part.attempt || isAnswered(part)) ? 'conflict' : '',
  'tool.called': ({ name }, _, call) => ((call?.name ?? name) === name ? '' : 'conflict'),
  'tool.approval.requested': mayApprove,
  'tool.approved': mayApprove,
  'tool.started': (event, _, { provider_executed: hosted, attempt = 0 }) => {
    if (hosted) return 'conflict';
    if (event.attempt > attempt) return '';
    return event.attempt === attempt ? 'again' : 'late';
  },
};

/** A step ends after its fragments and the calls of the provider; a pause may leave such calls without a result. */
function mayEnd({ finish_reason: reason }, message) {
  const isLeft = ({ status, provider_executed: hosted }) =>
    status === 'streaming' || (status === 'called' && hosted && reason !== 'pause');
  return partsOf(message).some(isLeft) ? 'conflict' : '';
}

function mayApprove({ type }, _, { provider_executed: hosted, approval }) {
  if (hosted) return 'conflict';
  return approval === 'approved' || (approval && type === 'tool.approval.requested') ? 'again' : '';
}

/** Whether the app has answered a call, with a result or an error other than `interrupted`. */
function isAnswered({ provider_executed: hosted, input, status, error }) {
  return !hosted && input && ['success', 'failed'].includes(status) && error?.kind !== 'interrupted';
}

/** Whether an event that comes again equals the one that was applied. */
function repeats(event, message, part) {
  const { type } = event;
  const same = (value, names) => names.every((name) => isEqual(value[name], event[name]));
  switch (type) {
    case 'prompt.submitted':
      return same(message, ['content']);
    case 'text.ended':
    case 'reasoning.ended':
    case 'media.ended': {
      const { times, ...ended } = part;
      return isEqual(ended, endedPart(event));
    }
    case 'tool.input.ended':
      return (part.raw_input ?? '') === event.text && part.input_status === endStatus(event);
    case 'tool.called':
      return same(part, ['name', 'input']);
    case 'tool.success':
      return part.status === 'success' && same(part, ['output', 'details']);
    case 'tool.failed':
      return same(part, ['error', 'output', 'details']);
    case 'tool.approval.requested':
      return part.approval_reason === event.reason;
    case 'step.ended':
    case 'step.failed':
      return same(message, ['finish_reason', 'raw_finish_reason', 'error', 'usage', 'details']);
    case 'compaction.ended':
      return message.status === 'completed' && (message.text ?? '') === event.text;
    case 'compaction.failed':
      return same(message, ['error']);
    default:
      return true; // the guards have compared all of it
  }
}

// -- changes: the effect of each event that is in place, on its message; a delta may be a duplicate or a gap

const CHANGES = {
  'prompt.submitted': (event, _, at) => begun('user', event, at, { content: event.content }),
  'step.started': (event, _, at) => begun('assistant', event, at, { origin: event.origin, status: 'running' }),
  'step.restarted': (event, { type, v, id, origin, times }) => {
    const { model, served_model } = { ...event.origin, ...origin };
    const names = compact({ model, served_model });
    const began = times && compact({ ...times, ended: undefined });
    return compact({ type, v, id, origin: { ...origin, ...names }, status: 'running', times: began });
  },
  'step.ended': (event, message, at) => {
    const { finish_reason, raw_finish_reason } = event;
    return closed(message, event, at, { status: 'completed', finish_reason, raw_finish_reason });
  },
  'step.failed': (event, message, at) => closed(message, event, at, { status: 'failed', error: event.error }),
  'compaction.started': (event, _, at) => {
    const { reason, origin } = event;
    return begun('compaction', event, at, { reason, origin, status: 'running' });
  },
  'compaction.delta': (event, message) => appended(event, message, 'text'),
  'compaction.ended': (event, message, at) =>
    compact({ ...message, status: 'completed', text: event.text || undefined, times: ends(message.times, at) }),
  // What came live of it is not in the log.
  'compaction.failed': (event, message, at) =>
    compact({ ...message, status: 'failed', text: undefined, error: event.error, times: ends(message.times, at) }),
};

function begun(type, event, at, fields) {
  return compact({ type, v: VERSION, id: event.message_id, ...fields, times: begins(at) });
}

function closed(message, { usage, details }, at, fields) {
  return compact({ ...message, ...fields, usage, details, times: ends(message.times, at) });
}

// The same for the events of a part: the part that there is then.
const PART_CHANGES = {
  'text.started': startPart,
  'text.delta': appendText,
  'text.ended': endPart,
  'reasoning.started': startPart,
  'reasoning.delta': appendText,
  'reasoning.ended': endPart,
  'media.started': startPart,
  'media.delta': appendBytes,
  'media.ended': endPart,
  'tool.input.started': (event, _, at) => begunCall(event, at, { status: 'streaming', input_status: 'streaming' }),
  'tool.input.delta': (event, call) => appended(event, call, 'raw_input'),
  'tool.input.ended': (event, call) =>
    compact({ ...call, raw_input: event.text || undefined, input_status: endStatus(event) }),
  'tool.called': (event, call, at) => {
    const called = { status: 'called', input: event.input };
    return call ? compact({ ...call, ...called, ...hostedBy(call, event) }) : begunCall(event, at, called);
  },
  'tool.approval.requested': ({ reason }, call) =>
    compact({ ...call, approval: 'requested', approval_reason: reason }),
  'tool.approved': (_, call) => ({ ...call, approval: 'approved' }),
  'tool.started': ({ attempt }, call) => ({ ...call, attempt }),
  'tool.progress': ({ output }, call) => compact({ ...call, output }),
  'tool.success': (event, call, at) => settled(call, event, at, { status: 'success' }),
  'tool.failed': (event, call, at) => settled(call, event, at, { status: 'failed', error: event.error }),
  'opaque.received': (_event, _part, at) =>
    compact({ type: 'opaque', status: 'completed', times: at && { started: at, ended: at } }),
};

function startPart({ type: eventType, media_type }, _, at) {
  const type = kindOf(eventType);
  const start = type === 'media' ? { media_type } : { text: '' };
  return compact({ type, ...start, status: 'streaming', times: begins(at) });
}

function appendText(event, part) {
  return appended(event, part, 'text');
}

function endPart(event, part, at) {
  return compact({ ...endedPart(event), times: ends(part.times, at) });
}

function endedPart(event) {
  const { type, text, citations, media_type, data, uri, details } = event;
  return compact({ type: kindOf(type), text, citations, media_type, data, uri, details, status: endStatus(event) });
}

function endStatus(event) {
  return (event.complete ?? true) ? 'completed' : 'incomplete';
}

function begunCall({ message_id, call_id, name, provider_executed }, at, fields) {
  const call = { type: 'tool', message_id, call_id, name, provider_executed: provider_executed || undefined };
  return compact({ ...call, ...fields, times: begins(at) });
}

function settled(call, event, at, fields) {
  const { output, details } = event;
  return compact({ ...call, ...hostedBy(call, event), output, details, ...fields, times: ends(call.times, at) });
}

function hostedBy(call, event) {
  return { provider_executed: call.provider_executed || event.provider_executed || undefined };
}

// -- deltas

/** Return the outcome of a delta that adds nothing to content of a length; `undefined` when it does. */
function unneeded(length, offset, deltaLength) {
  if (offset > length) return 'gap';
  return offset + deltaLength <= length ? 'duplicate' : undefined;
}

/** Append the part of a delta that is not there yet to a text of a message or part. */
function appended({ offset, delta }, owner, name) {
  const text = owner[name] ?? '';
  return unneeded(text.length, offset, delta.length) ?? { ...owner, [name]: text + delta.slice(text.length - offset) };
}

/**
 * Media that stream, by part: how many bytes they have, the base64 of whole groups of three, and the bytes behind them.
 *
 * The end of a text that was put together from pieces is not read for that: it would be copied with each delta.
 */
const STREAMS = new WeakMap();

function appendBytes({ offset, delta }, part) {
  const { length, groups, rest } = STREAMS.get(part) ?? streamOf(part.data ?? '');
  const without = unneeded(length, offset, byteLength(delta));
  if (without) return without;
  const more = atob(delta).slice(length - offset);
  const stream = { length: length + more.length, ...grouped(groups, rest + more) };
  const changed = { ...part, data: stream.groups + btoa(stream.rest) };
  STREAMS.set(changed, stream);
  return changed;
}

function streamOf(data) {
  const at = data.length - 4;
  return { length: byteLength(data), ...grouped(data.slice(0, Math.max(at, 0)), atob(data.slice(at))) };
}

function grouped(groups, bytes) {
  const end = bytes.length - (bytes.length % 3);
  return { groups: groups + btoa(bytes.slice(0, end)), rest: bytes.slice(end) };
}

function byteLength(base64) {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
}

// -- values

function partsOf(message) {
  return message.parts ?? [];
}

function begins(at) {
  return at && { started: at };
}

function ends(times, at) {
  return at ? compact({ started: times?.started, ended: at }) : times;
}

function compact(object) {
  for (const name of Object.keys(object)) if (object[name] === undefined) delete object[name];
  return object;
}

function isEqual(one, other) {
  if (one === other) return true;
  if (!one || !other || typeof one !== 'object' || typeof other !== 'object') return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]))
  );
}
