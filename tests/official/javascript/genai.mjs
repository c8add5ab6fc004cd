// Calls @google/genai, of the version whose package is named as argument, as an application does.
import { answerLines, collect } from './lines.mjs';

const name = process.argv[2];
const { GoogleGenAI } = await import(name);

const apiOf = (url) => new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: url } }).interactions;

await answerLines(name, {
  create: ({ url, ...body }) => apiOf(url).create(body),
  stream: async ({ url, first, ...body }) => collect(await apiOf(url).create({ ...body, stream: true }), first),
  get: ({ url, interaction }) => apiOf(url).get(interaction),
  replay: async ({ url, interaction, ...cursor }) =>
    collect(await apiOf(url).get(interaction, { stream: true, ...cursor })),
  cancel: ({ url, interaction }) => apiOf(url).cancel(interaction),
  delete: async ({ url, interaction }) => {
    await apiOf(url).delete(interaction);
  },
  // A conversation that is not stored: every request says again all the objects that came before.
  say_again: async ({ url, prompts, ...body }) => {
    const answers = [];
    let said = [];
    for (const prompt of prompts) {
      said = [...said, prompt];
      answers.push(await apiOf(url).create({ ...body, input: said, store: false }));
      said = [...said, ...answers.at(-1).steps];
    }
    return answers;
  },
});
