// Holds conversations through TanStack AI's adapter of Gemini Interactions, as an application does.
import { chat, toolDefinition } from '@tanstack/ai';
import { createGeminiTextInteractions } from '@tanstack/ai-gemini/experimental';

import { answerLines, collect } from './lines.mjs';

/** Return the chunks of one turn. */
async function turn({ url, model, messages, options, tool_output: toolOutput }) {
  const tools = [];
  if (toolOutput !== undefined) {
    const definition = toolDefinition({
      name: 'get_weather',
      description: 'The weather of a place.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    });
    // What the tool was called with is part of what it says, so that the test sees it.
    tools.push(definition.server(async (input) => ({ input, output: toolOutput })));
  }
  const adapter = createGeminiTextInteractions(model, 'key', { httpOptions: { baseUrl: url } });
  return collect(chat({ adapter, messages, modelOptions: options, tools }));
}

await answerLines('@tanstack/ai-gemini', { turn });
