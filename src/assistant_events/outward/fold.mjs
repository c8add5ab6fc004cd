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
  let transcript = start;
  for (const item of items) transcript = reduce(transcript, item).transcript;
  return transcript;
}

/** Apply an event, record, frame or snapshot, and return the new transcript and the outcome. */
export function reduce(transcript, item) {
  switch (item.type ?? ('event' in item ? 'record' : 'frame')) {
    case 'snapshot': {
      const { type, ...snapshot } = item;
      return { transcript: { ...EMPTY, ...snapshot }, outcome: 'applied' };
    }
    case 'record': {
      const { seq, at, event } = item;
      if (seq !== transcript.seq + 1) return { transcript, outcome: seq <= transcript.seq ? 'duplicate' : 'gap' };
      return reduceEvent({ ...transcript, seq }, event, at);
    }
    case 'frame':
      return reduceFrame(transcript, item);
    default:
      return reduceEvent(transcript, item);
  }
}

function reduceFrame(transcript, { after, events }) {
  if (after !== transcript.seq) return { transcript, outcome: after < transcript.seq ? 'late' : 'gap' };
  const outcomes = [];
  for (const event of events) {
    const reduced = reduceEvent(transcript, event);
    transcript = reduced.transcript;
    outcomes.push(reduced.outcome);
  }
  return { transcript, outcome: outcomes.includes('applied') ? 'applied' : (outcomes[0] ?? 'ignored') };
}

function reduceEvent(transcript, event, at) {
  const { type, message_id: id } = event;
  if (!Object.hasOwn(EVENTS, type) || EVENTS[type] !== (event.v ?? 1)) return { transcript, outcome: 'ignored' };
  const { messages, rewound } = transcript;
  const place = messages.findLastIndex((each) => each.id === id);
  const message = messages[place];
  const why = rejection(message ? messagePhase(message) : rewound.includes(id) ? 'rewound' : 'unknown', message, event);
  if (why === 'again') return { transcript, outcome: !message || repeats(message, event) ? 'duplicate' : 'conflict' };
  if (why) return { transcript, outcome: why };
  if (type === 'history.rewound') {
    const gone = messages.slice(place).map((each) => each.id);
    const kept = { messages: messages.slice(0, place), rewound: [...rewound, ...gone] };
    return { transcript: { ...transcript, ...kept }, outcome: 'applied' };
  }
  const changed = CHANGES[type](message, event, at);
  if (typeof changed === 'string') return { transcript, outcome: changed };
  const after = message ? replaced(messages, place, changed) : inserted(messages, changed, event.before);
  return { transcript: { ...transcript, messages: after }, outcome: 'applied' };
}

/** Add a message at the end; an answer that has not read the last prompts is before the first of them. */
function inserted(messages, message, unread) {
  const place = unread ? messages.findLastIndex((each) => each.id === unread) : -1;
  return place < 0 ? [...messages, message] : [...messages.slice(0, place), message, ...messages.slice(place)];
}

// -- phases: how far a message, the fragments of a kind and a call are

function messagePhase({ type, status }) {
  if (type === 'user') return 'prompt';
  if (type === 'compaction') return status === 'running' ? 'compacting' : 'compacted';
  return status === 'completed' ? 'ended' : status;
}

function fragmentPhase(message, kind) {
  const last = partsOf(message).findLast((part) => part.type === kind);
  if (!last) return 'absent';
  return last.status === 'streaming' ? 'open' : 'closed';
}

function callPhase(call) {
  if (!call) return 'unknown';
  if (call.status === 'called') return 'called';
  if (call.status !== 'streaming') return 'settled';
  return call.input_status === 'streaming' ? 'input open' : 'input ended';
}

// -- rejections: why an event is out of place; nothing when it is not

function rejection(phase, message, event) {
  const after = MESSAGE[phase][event.type] ?? MESSAGE[phase].otherwise;
  if (REJECTIONS.has(after)) {
    // In a closed message an equal second end of a fragment or call is still a duplicate.
    return after === 'late' && message && phaseInside(message, event) === 'again' ? 'again' : after;
  }
  const inside = phaseInside(message, event);
  if (REJECTIONS.has(inside)) return inside;
  return GUARDS[event.type]?.(message, event);
}

/** Return the phase that follows for the fragment or call of an event, or why there is none. */
function phaseInside(message, event) {
  const { type } = event;
  if (Object.hasOwn(CALL.unknown, type)) return CALL[callPhase(callOf(message, event))][type];
  const [kind] = type.split('.');
  if (Object.hasOwn(FRAGMENT, kind)) return FRAGMENT[kind][fragmentPhase(message, kind)][type];
  return undefined;
}

const GUARDS = {
  'step.ended': mayEnd,
  'step.failed': mayEnd,
  'step.restarted': (message) => (callsOf(message).some((call) => isAnswered(call) || call.attempt) ? 'conflict' : ''),
  'tool.called': (message, event) => ((callOf(message, event)?.name ?? event.name) === event.name ? '' : 'conflict'),
  'tool.approval.requested': mayApprove,
  'tool.approved': mayApprove,
  'tool.started': (message, event) => {
    const { provider_executed: hosted, attempt = 0 } = callOf(message, event);
    if (hosted) return 'conflict';
    if (event.attempt > attempt) return '';
    return event.attempt === attempt ? 'again' : 'late';
  },
};

/** A step ends after its fragments and the calls of the provider; a pause may leave such calls without a result. */
function mayEnd(message, event) {
  if (Object.keys(FRAGMENT).some((kind) => fragmentPhase(message, kind) === 'open')) return 'conflict';
  const unsettled = callsOf(message).filter(
    (call) => call.status === 'streaming' || (call.status === 'called' && call.provider_executed),
  );
  if (event.finish_reason === 'pause') return unsettled.some((call) => call.status === 'streaming') ? 'conflict' : '';
  return unsettled.length ? 'conflict' : '';
}

function mayApprove(message, event) {
  const { provider_executed: hosted, approval } = callOf(message, event);
  if (hosted) return 'conflict';
  return approval === 'approved' || (approval && event.type === 'tool.approval.requested') ? 'again' : '';
}

/** Whether the app has answered a call, with a result or an error other than `interrupted`. */
function isAnswered({ provider_executed: hosted, input, status, error }) {
  return !hosted && input && ['success', 'failed'].includes(status) && error?.kind !== 'interrupted';
}

/** Whether an event that comes again equals the one that was applied. */
function repeats(message, event) {
  const { type } = event;
  const same = (value, names) => names.every((name) => isEqual(value[name], event[name]));
  const call = callOf(message, event);
  switch (type) {
    case 'prompt.submitted':
      return same(message, ['content']);
    case 'text.ended':
    case 'reasoning.ended':
    case 'media.ended': {
      const [kind] = type.split('.');
      const { times, ...part } = partsOf(message).findLast((each) => each.type === kind);
      return isEqual(part, endedPart(kind, event));
    }
    case 'tool.input.ended':
      return (call.raw_input ?? '') === event.text && call.input_status === endStatus(event);
    case 'tool.called':
      return same(call, ['name', 'input']);
    case 'tool.success':
      return call.status === 'success' && same(call, ['output', 'details']);
    case 'tool.failed':
      return call.status === 'failed' && same(call, ['error', 'output', 'details']);
    case 'tool.approval.requested':
      return call.approval_reason === event.reason;
    case 'step.ended':
    case 'step.failed':
      return same(message, ['finish_reason', 'raw_finish_reason', 'error', 'usage', 'details']);
    case 'compaction.ended':
      return message.status === 'completed' && (message.text ?? '') === event.text;
    case 'compaction.failed':
      return message.status === 'failed' && same(message, ['error']);
    default:
      return true; // the guards have compared all of it
  }
}

// -- changes: the effect of each event that is in place, on its message; a delta may be a duplicate or a gap

const CHANGES = {
  'prompt.submitted': (_, event, at) => begun('user', event, at, { content: event.content }),
  'step.started': (_, event, at) => begun('assistant', event, at, { origin: event.origin, status: 'running' }),
  'step.restarted': ({ type, v, id, origin, times }, event) => {
    const { model, served_model } = { ...event.origin, ...origin };
    const names = compact({ model, served_model });
    const began = times && compact({ ...times, ended: undefined });
    return compact({ type, v, id, origin: { ...origin, ...names }, status: 'running', times: began });
  },
  'step.ended': (message, event, at) => {
    const { finish_reason, raw_finish_reason } = event;
    return closed(message, event, at, { status: 'completed', finish_reason, raw_finish_reason, error: undefined });
  },
  'step.failed': (message, event, at) => {
    const { error } = event;
    const reasons = { finish_reason: undefined, raw_finish_reason: undefined };
    return closed(message, event, at, { status: 'failed', ...reasons, error });
  },
  'text.started': startPart,
  'text.delta': appendText,
  'text.ended': endPart,
  'reasoning.started': startPart,
  'reasoning.delta': appendText,
  'reasoning.ended': endPart,
  'media.started': startPart,
  'media.delta': (message, event) => {
    const place = partsOf(message).findLastIndex((part) => part.type === 'media');
    const { data = '' } = message.parts[place];
    return unneeded(data, event, byteLength) ?? withPart(message, place, { data: appendedBytes(data, event) });
  },
  'media.ended': endPart,
  'tool.input.started': (message, event, at) =>
    withCall(message, event, at, { status: 'streaming', input_status: 'streaming' }),
  'tool.input.delta': (message, event) => {
    const place = callPlace(message, event);
    const { raw_input: text = '' } = message.parts[place];
    return unneeded(text, event) ?? withPart(message, place, { raw_input: appended(text, event) });
  },
  'tool.input.ended': (message, event) =>
    changedCall(message, event, { raw_input: event.text || undefined, input_status: endStatus(event) }),
  'tool.called': (message, event, at) => {
    const called = { status: 'called', input: event.input };
    const call = callOf(message, event);
    if (!call) return withCall(message, event, at, called);
    return changedCall(message, event, { ...called, ...hostedBy(call, event) });
  },
  'tool.approval.requested': (message, event) =>
    changedCall(message, event, { approval: 'requested', approval_reason: event.reason }),
  'tool.approved': (message, event) => changedCall(message, event, { approval: 'approved' }),
  'tool.started': (message, event) => changedCall(message, event, { attempt: event.attempt }),
  'tool.progress': (message, event) => changedCall(message, event, { output: event.output }),
  'tool.success': (message, event, at) => settled(message, event, at, { status: 'success' }),
  'tool.failed': (message, event, at) => settled(message, event, at, { status: 'failed', error: event.error }),
  'opaque.received': (message, _, at) =>
    addedPart(message, { type: 'opaque', status: 'completed', times: at && { started: at, ended: at } }),
  'compaction.started': (_, event, at) => {
    const { reason, origin } = event;
    return begun('compaction', event, at, { reason, origin, status: 'running' });
  },
  'compaction.delta': (message, event) => {
    const { text = '' } = message;
    return unneeded(text, event) ?? { ...message, text: appended(text, event) };
  },
  'compaction.ended': (message, event, at) =>
    compact({ ...message, status: 'completed', text: event.text || undefined, times: ends(message.times, at) }),
  // What came live of it is not in the log.
  'compaction.failed': (message, event, at) =>
    compact({ ...message, status: 'failed', text: undefined, error: event.error, times: ends(message.times, at) }),
};

function begun(type, event, at, fields) {
  return compact({ type, v: VERSION, id: event.message_id, ...fields, times: begins(at) });
}

function closed(message, { usage, details }, at, fields) {
  return compact({ ...message, ...fields, usage, details, times: ends(message.times, at) });
}

function startPart(message, event, at) {
  const [type] = event.type.split('.');
  const start = type === 'media' ? { media_type: event.media_type } : { text: '' };
  return addedPart(message, { type, ...start, status: 'streaming', times: begins(at) });
}

function appendText(message, event) {
  const [kind] = event.type.split('.');
  const place = partsOf(message).findLastIndex((part) => part.type === kind);
  const { text } = message.parts[place];
  return unneeded(text, event) ?? withPart(message, place, { text: appended(text, event) });
}

function endPart(message, event, at) {
  const [kind] = event.type.split('.');
  const place = partsOf(message).findLastIndex((part) => part.type === kind);
  const part = { ...endedPart(kind, event), times: ends(message.parts[place].times, at) };
  return { ...message, parts: replaced(message.parts, place, compact(part)) };
}

function endedPart(kind, event) {
  const { text, citations, media_type, data, uri, details } = event;
  return compact({ type: kind, text, citations, media_type, data, uri, details, status: endStatus(event) });
}

function endStatus(event) {
  return (event.complete ?? true) ? 'completed' : 'incomplete';
}

function settled(message, event, at, fields) {
  const call = callOf(message, event);
  const { output, details } = event;
  const times = ends(call.times, at);
  return changedCall(message, event, { ...hostedBy(call, event), output, details, ...fields, times });
}

function hostedBy(call, event) {
  return { provider_executed: call.provider_executed || event.provider_executed || undefined };
}

// -- deltas

/** Return the outcome of a delta that adds nothing to the content; `undefined` when it does. */
function unneeded(content, { offset, delta }, lengthOf = (text) => text.length) {
  const length = lengthOf(content);
  if (offset > length) return 'gap';
  return offset + lengthOf(delta) <= length ? 'duplicate' : undefined;
}

/** Append the part of a delta that is not there yet. */
function appended(text, { offset, delta }) {
  return text + delta.slice(text.length - offset);
}

/** The same for bytes in base64; only the last bytes and the delta are decoded. */
function appendedBytes(data, { offset, delta }) {
  const length = byteLength(data);
  const whole = Math.floor(length / 3);
  return data.slice(0, 4 * whole) + btoa(atob(data.slice(4 * whole)) + atob(delta).slice(length - offset));
}

function byteLength(base64) {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
}

// -- parts and calls

function partsOf(message) {
  return message.parts ?? [];
}

function callsOf(message) {
  return partsOf(message).filter((part) => part.type === 'tool');
}

function callPlace(message, { call_id: id }) {
  return partsOf(message).findIndex((part) => part.type === 'tool' && part.call_id === id);
}

function callOf(message, event) {
  return partsOf(message)[callPlace(message, event)];
}

function addedPart(message, part) {
  return { ...message, parts: [...partsOf(message), compact(part)] };
}

function withPart(message, place, fields) {
  return { ...message, parts: replaced(message.parts, place, compact({ ...message.parts[place], ...fields })) };
}

function withCall(message, event, at, fields) {
  const { message_id, call_id, name, provider_executed } = event;
  const call = { type: 'tool', message_id, call_id, name, provider_executed: provider_executed || undefined };
  return addedPart(message, { ...call, ...fields, times: begins(at) });
}

function changedCall(message, event, fields) {
  return withPart(message, callPlace(message, event), fields);
}

// -- values

function begins(at) {
  return at && { started: at };
}

function ends(times, at) {
  return at ? compact({ started: times?.started, ended: at }) : times;
}

function replaced(list, place, value) {
  const copy = list.slice();
  copy[place] = value;
  return copy;
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
