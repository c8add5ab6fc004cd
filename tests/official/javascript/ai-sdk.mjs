// Calls a provider through the AI SDK, whose packages are named as arguments, as an application does.
import { answerLines, collect } from './lines.mjs';

const [providerName, sdkName] = process.argv.slice(2);
const provider = await import(providerName);
const { generateText, jsonSchema, stepCountIs, streamText, tool } = await import(sdkName);

/** By the name of the provider in options and metadata, how a model is made. */
const MODELS = {
  anthropic: (url, model, fetch) => provider.createAnthropic({ apiKey: 'key', baseURL: `${url}/v1`, fetch })(model),
  google: (url, model, fetch, api = 'interactions') =>
    provider.createGoogleGenerativeAI({ apiKey: 'key', baseURL: `${url}/v1beta`, fetch })[api](model),
  openai: (url, model, fetch, api = 'responses') =>
    provider.createOpenAI({ apiKey: 'key', baseURL: `${url}/v1`, fetch })[api](model),
};
const name = Object.keys(MODELS).find((each) => providerName.includes(each));

/** Return what both kinds of calls are made with. */
function settingsOf({ url, model, api, options, tool_output: toolOutput, ...prompt }, fetch) {
  const settings = {
    model: MODELS[name](url, model, fetch, api),
    providerOptions: { [name]: options ?? {} },
    maxRetries: 0,
    // The default prints; the error is a part of the stream too.
    onError: () => {},
    ...prompt,
  };
  if (toolOutput === undefined) return settings;
  const weather = tool({
    description: 'The weather of a place.',
    inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
    execute: async () => toolOutput,
  });
  return { ...settings, tools: { get_weather: weather }, stopWhen: stepCountIs(3) };
}

await answerLines(providerName, {
  generate: async (request) => {
    const found = await generateText(settingsOf(request));
    return {
      text: found.text,
      reasoning: found.reasoningText,
      finish: found.finishReason,
      usage: found.totalUsage,
      calls: found.steps.flatMap((step) => step.toolCalls.map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input }))),
      messages: found.steps.flatMap((step) => step.response.messages),
      metadata: found.providerMetadata?.[name],
    };
  },
  stream: async (request) => {
    const parts = await collect(streamText(settingsOf(request)).fullStream);
    // An error as JSON is nothing.
    return parts.map((part) => (part.error ? { ...part, error: String(part.error.message ?? part.error) } : part));
  },
  // Leaves the stream when the first text comes, as a user who presses Stop, and waits until the run was told.
  leave: async (request) => {
    const controller = new AbortController();
    const types = [];
    let told;
    const cancelled = new Promise((resolve) => (told = resolve));
    const watched = async (target, init) => {
      const response = await fetch(target, init);
      if (String(target).endsWith('/cancel')) told();
      return response;
    };
    const settings = { ...settingsOf(request, watched), abortSignal: controller.signal };
    for await (const part of streamText(settings).fullStream) {
      types.push(part.type);
      if (part.type === 'text-delta') controller.abort();
    }
    await cancelled;
    return types;
  },
});
