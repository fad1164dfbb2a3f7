import { textOf } from './files';

export interface Instruction {
  name: string;
  /** The stage that `COPY --from` names. */
  from: string | undefined;
  text: string;
  /** The words of `text`: items of a JSON array, or separated by spaces. */
  words: string[];
}

export interface Stage {
  /** Empty for the final stage. */
  name: string;
  from: string;
  instructions: Instruction[];
}

const wordsOf = (text: string): string[] =>
  text.startsWith('[') ? (JSON.parse(text) as string[]) : text.split(/\s+/).filter((word) => word !== '');

function instructionOf(line: string): Instruction {
  const [, name = '', flags = '', text = ''] = /^([A-Z]+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? [];
  if (name === '') throw new Error(`Not an instruction: ${line}`);
  return { name, from: /--from=(\S+)/.exec(flags)?.[1], text, words: wordsOf(text) };
}

export function dockerfileStages(): Stage[] {
  const lines = textOf('Dockerfile')
    .replaceAll(/^\s*(#.*)?\n/gm, '')
    .replaceAll(/\\\n\s*/g, '');
  const stages: Stage[] = [];
  for (const instruction of lines.trim().split('\n').map(instructionOf)) {
    const [from = '', , name = ''] = instruction.words;
    if (instruction.name === 'FROM') stages.push({ name, from, instructions: [] });
    else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

/** Returns the last instruction of this name in the final stage. */
export function lastInstruction(name: string): Instruction {
  const found = dockerfileStages()
    .at(-1)
    ?.instructions.findLast((instruction) => instruction.name === name);
  if (!found) throw new Error(`The image has no ${name}.`);
  return found;
}

export const imageEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    dockerfileStages()
      .flatMap(({ instructions }) => instructions)
      .filter(({ name }) => name === 'ENV')
      .flatMap(({ words }) => words.map((word) => word.split('=') as [string, string])),
  );

/** Returns the names that .dockerignore allows; it excludes everything else. */
export function buildContext(): string[] {
  const [first, ...others] = textOf('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (first !== '*' || others.some((line) => !/^![\w.-]+$/.test(line)))
    throw new Error('.dockerignore must exclude * and then allow single names.');
  return others.map((line) => line.slice(1));
}
