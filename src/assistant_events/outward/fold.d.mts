// Types of fold.mjs. Documents are those of the library without provider state; fields that equal their default are
// missing.

/** What became of an item. All but `applied` change no message. */
// generated: outcomes
export type Outcome = 'applied' | 'duplicate' | 'conflict' | 'late' | 'orphan' | 'gap' | 'ignored';
// end of outcomes

/** An event of a type or version that this module does not know. It changes nothing; ask for its fields with `in`. */
export interface UnknownEvent {
  type: string;
  v?: number;
  message_id?: string;
}

/** A transcript that takes the place of the one before, for readers who join late. */
export interface Snapshot extends Transcript {
  type: 'snapshot';
}

/** What is folded. Offsets of deltas count UTF-16 units, and bytes for media. */
export type Item =
  | Event
  | UnknownEvent
  | (Record & { type?: 'record' })
  | (Frame & { type?: 'frame' })
  | Snapshot;

/** The transcript without messages. */
export const EMPTY: Transcript;

/** Apply all items in order, and return the transcript. Items that are out of place change nothing. */
export function fold(items: Iterable<Item>, start?: Transcript): Transcript;

/**
 * Apply one item, and return the new transcript and the outcome.
 *
 * The transcript that is given stays as it is; messages and parts that do not change are the same objects in both.
 */
export function reduce(transcript: Transcript, item: Item): { transcript: Transcript; outcome: Outcome };

// generated: documents
/** One step: one response of one model. */
export interface AssistantMessage {
  type: 'assistant';
  v: 1;
  id: string;
  origin: Origin;
  parts?: readonly Part[];
  status: 'running' | 'completed' | 'failed';
  finish_reason?: 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'pause' | 'other';
  raw_finish_reason?: string;
  usage?: Usage;
  error?: ErrorInfo;
  details?: { readonly [name: string]: unknown };
  times?: Times;
}

/** A source for a part of a text. */
export interface Citation {
  url?: string;
  title?: string;
  start?: number;
  end?: number;
  cited_text?: string;
}

/** A piece of the summary. */
export interface CompactionDelta {
  type: 'compaction.delta';
  v: 1;
  message_id: string;
  offset: number;
  delta: string;
}

/** The summary is written. */
export interface CompactionEnded {
  type: 'compaction.ended';
  v: 1;
  message_id: string;
  text: string;
}

/** The summary failed; the context does not change. */
export interface CompactionFailed {
  type: 'compaction.failed';
  v: 1;
  message_id: string;
  error: ErrorInfo;
}

/** A summary of the messages before it, written by the app. */
export interface CompactionMessage {
  type: 'compaction';
  v: 1;
  id: string;
  reason: 'auto' | 'manual';
  origin?: Origin;
  status: 'running' | 'completed' | 'failed';
  text?: string;
  error?: ErrorInfo;
  times?: Times;
}

/** The app begins to write a summary that replaces the messages before it in the context. */
export interface CompactionStarted {
  type: 'compaction.started';
  v: 1;
  message_id: string;
  reason: 'auto' | 'manual';
  origin?: Origin;
}

export type Content =
  | TextContent
  | JsonContent
  | MediaContent;

/** An error, for programs (`kind`) and for people (`message`). */
export interface ErrorInfo {
  kind: 'interrupted' | 'aborted' | 'cancelled' | 'protocol' | 'provider' | 'overloaded' | 'rate-limit' | 'auth' | 'invalid-request' | 'not-found' | 'quota' | 'context-length' | 'timeout' | 'network' | 'content-filter' | 'invalid-input' | 'no-result' | 'unexpected-action' | 'tool' | 'tool-denied' | 'adapter' | 'unknown' | string;
  message: string;
  code?: string;
  status?: number;
  retryable?: boolean;
  retry_after_s?: number;
  details?: { readonly [name: string]: unknown };
}

export type Event =
  | PromptSubmitted
  | HistoryRewound
  | StepStarted
  | StepRestarted
  | StepEnded
  | StepFailed
  | TextStarted
  | TextEnded
  | ReasoningStarted
  | ReasoningEnded
  | MediaStarted
  | MediaEnded
  | ToolInputStarted
  | ToolInputEnded
  | ToolCalled
  | ToolApprovalRequested
  | ToolApproved
  | ToolStarted
  | ToolSuccess
  | ToolFailed
  | OpaqueReceived
  | CompactionStarted
  | CompactionEnded
  | CompactionFailed
  | TextDelta
  | ReasoningDelta
  | MediaDelta
  | ToolInputDelta
  | ToolProgress
  | CompactionDelta;

/** Live events of a session, with their place in its log. */
export interface Frame {
  session_id: string;
  after: number;
  events: readonly LiveEvent[];
}

/** The message and all after it leave the transcript; the log keeps them. For regenerating and editing. */
export interface HistoryRewound {
  type: 'history.rewound';
  v: 1;
  message_id: string;
}

/** Any JSON value. */
export interface JsonContent {
  type: 'json';
  value: unknown;
}

export type LiveEvent =
  | TextDelta
  | ReasoningDelta
  | MediaDelta
  | ToolInputDelta
  | ToolProgress
  | CompactionDelta;

/** An image, audio, a video or a document: its bytes or its URI. */
export interface MediaContent {
  type: 'media';
  media_type: string;
  data?: string;
  uri?: string;
}

/** A piece of the open media item. */
export interface MediaDelta {
  type: 'media.delta';
  v: 1;
  message_id: string;
  offset: number;
  delta: string;
}

/** A media item has ended: its bytes or its URI, or neither when it was cut before the first byte. */
export interface MediaEnded {
  type: 'media.ended';
  v: 1;
  message_id: string;
  media_type: string;
  data?: string;
  uri?: string;
  complete?: boolean;
}

/** An image, audio, a video or a document. */
export interface MediaPart {
  type: 'media';
  media_type: string;
  data?: string;
  uri?: string;
  status: 'streaming' | 'completed' | 'incomplete';
  times?: Times;
}

/** An image, an audio, a video or a document begins. */
export interface MediaStarted {
  type: 'media.started';
  v: 1;
  message_id: string;
  media_type: string;
}

export type Message =
  | UserMessage
  | AssistantMessage
  | CompactionMessage;

/** An item of the provider that the catalogue has no event for. */
export interface OpaquePart {
  type: 'opaque';
  status: 'streaming' | 'completed' | 'incomplete';
  times?: Times;
}

/** A provider item without an event of its own, kept raw at its place so that it can be sent back. */
export interface OpaqueReceived {
  type: 'opaque.received';
  v: 1;
  message_id: string;
}

/** Who issued a step. State may be sent back to the same origin. */
export interface Origin {
  provider: string;
  model?: string;
  dialect: string;
  served_model?: string;
}

export type Part =
  | TextPart
  | ReasoningPart
  | MediaPart
  | ToolPart
  | OpaquePart;

/** The user, or the app for them, submitted a prompt. It is a whole message. */
export interface PromptSubmitted {
  type: 'prompt.submitted';
  v: 1;
  message_id: string;
  content: readonly Content[];
}

/** A piece of the open reasoning. */
export interface ReasoningDelta {
  type: 'reasoning.delta';
  v: 1;
  message_id: string;
  offset: number;
  delta: string;
}

/** Reasoning has ended. The text may be empty, when only its state was received. */
export interface ReasoningEnded {
  type: 'reasoning.ended';
  v: 1;
  message_id: string;
  text: string;
  complete?: boolean;
}

/** Reasoning; its text is empty when the provider sent only its state. */
export interface ReasoningPart {
  type: 'reasoning';
  text: string;
  status: 'streaming' | 'completed' | 'incomplete';
  times?: Times;
}

/** Reasoning begins. */
export interface ReasoningStarted {
  type: 'reasoning.started';
  v: 1;
  message_id: string;
}

/** A durable event with its place in a log. */
export interface Record {
  session_id: string;
  seq: number;
  at: string;
  event: PromptSubmitted | HistoryRewound | StepStarted | StepRestarted | StepEnded | StepFailed | TextStarted | TextEnded | ReasoningStarted | ReasoningEnded | MediaStarted | MediaEnded | ToolInputStarted | ToolInputEnded | ToolCalled | ToolApprovalRequested | ToolApproved | ToolStarted | ToolSuccess | ToolFailed | OpaqueReceived | CompactionStarted | CompactionEnded | CompactionFailed | UnknownEvent;
}

/** The provider's answer is complete. */
export interface StepEnded {
  type: 'step.ended';
  v: 1;
  message_id: string;
  finish_reason: 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'pause' | 'other';
  raw_finish_reason?: string;
  usage?: Usage;
  details?: { readonly [name: string]: unknown };
}

/** The step ended without a valid end. Content received before stays in the message. */
export interface StepFailed {
  type: 'step.failed';
  v: 1;
  message_id: string;
  error: ErrorInfo;
  usage?: Usage;
  details?: { readonly [name: string]: unknown };
}

/** The received content is void; the same message starts over. */
export interface StepRestarted {
  type: 'step.restarted';
  v: 1;
  message_id: string;
  reason: string;
  origin?: Origin;
}

/** A model began to answer: one response of one model, which is one assistant message. */
export interface StepStarted {
  type: 'step.started';
  v: 1;
  message_id: string;
  origin: Origin;
  before?: string;
}

/** Plain text. */
export interface TextContent {
  type: 'text';
  text: string;
}

/** A piece of the open text. */
export interface TextDelta {
  type: 'text.delta';
  v: 1;
  message_id: string;
  offset: number;
  delta: string;
}

/** Visible text has ended; `text` is all of it. */
export interface TextEnded {
  type: 'text.ended';
  v: 1;
  message_id: string;
  text: string;
  complete?: boolean;
  citations?: readonly Citation[];
  details?: { readonly [name: string]: unknown };
}

/** Visible text. */
export interface TextPart {
  type: 'text';
  text: string;
  status: 'streaming' | 'completed' | 'incomplete';
  citations?: readonly Citation[];
  details?: { readonly [name: string]: unknown };
  times?: Times;
}

/** Visible text begins. */
export interface TextStarted {
  type: 'text.started';
  v: 1;
  message_id: string;
}

/** Start and end of a message or part in UTC: the times of the records of its first and last event. */
export interface Times {
  started?: string;
  ended?: string;
}

/** The app asks a person whether it may run the call. */
export interface ToolApprovalRequested {
  type: 'tool.approval.requested';
  v: 1;
  message_id: string;
  call_id: string;
  reason?: string;
}

/** The call may run. A denial is `tool.failed` with an error of kind `tool-denied`. */
export interface ToolApproved {
  type: 'tool.approved';
  v: 1;
  message_id: string;
  call_id: string;
}

/** The input of the call is complete and an object. Legal without `tool.input.*` before it. */
export interface ToolCalled {
  type: 'tool.called';
  v: 1;
  message_id: string;
  call_id: string;
  name: string;
  input: { readonly [name: string]: unknown };
  provider_executed?: boolean;
}

/** The call failed, was cut, or never had an input to run with. */
export interface ToolFailed {
  type: 'tool.failed';
  v: 1;
  message_id: string;
  call_id: string;
  error: ErrorInfo;
  output?: readonly Content[];
  provider_executed?: boolean;
  details?: { readonly [name: string]: unknown };
}

/** A piece of the input of a call. */
export interface ToolInputDelta {
  type: 'tool.input.delta';
  v: 1;
  message_id: string;
  offset: number;
  call_id: string;
  delta: string;
}

/** The input has ended; `text` is all of it as the model wrote it. */
export interface ToolInputEnded {
  type: 'tool.input.ended';
  v: 1;
  message_id: string;
  call_id: string;
  text: string;
  complete?: boolean;
}

/** The model begins to write the input of a call. */
export interface ToolInputStarted {
  type: 'tool.input.started';
  v: 1;
  message_id: string;
  call_id: string;
  name: string;
  provider_executed?: boolean;
}

/** A tool call and its result. */
export interface ToolPart {
  type: 'tool';
  message_id: string;
  call_id: string;
  name: string;
  provider_executed?: boolean;
  status: 'streaming' | 'called' | 'success' | 'failed';
  raw_input?: string;
  input_status?: 'streaming' | 'completed' | 'incomplete';
  input?: { readonly [name: string]: unknown };
  approval?: 'requested' | 'approved';
  approval_reason?: string;
  attempt?: number;
  output?: readonly Content[];
  error?: ErrorInfo;
  details?: { readonly [name: string]: unknown };
  times?: Times;
}

/** Output of a running call so far. Replaces the last progress. */
export interface ToolProgress {
  type: 'tool.progress';
  v: 1;
  message_id: string;
  call_id: string;
  output?: readonly Content[];
}

/** The app is about to run the call. Without a result after it, whether the call ran is unknown. */
export interface ToolStarted {
  type: 'tool.started';
  v: 1;
  message_id: string;
  call_id: string;
  attempt: number;
}

/** The call was answered. */
export interface ToolSuccess {
  type: 'tool.success';
  v: 1;
  message_id: string;
  call_id: string;
  output?: readonly Content[];
  provider_executed?: boolean;
  details?: { readonly [name: string]: unknown };
}

/** The messages of a session, folded from its events. */
export interface Transcript {
  v: 1;
  messages: readonly Message[];
  seq: number;
  rewound: readonly string[];
}

/** Tokens of one step, as OpenTelemetry counts them: the input includes the cache, the output includes reasoning. */
export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
  reasoning_tokens?: number;
  details?: { readonly [name: string]: unknown };
}

/** A prompt of the user. */
export interface UserMessage {
  type: 'user';
  v: 1;
  id: string;
  content: readonly Content[];
  times?: Times;
}
// end of documents
