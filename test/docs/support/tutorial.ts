import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { closeAfterTests, temporaryFolder } from '../../support/cleanup';
import { until } from '../../support/latch';
import { TOP, readPage, type Fence } from './markdown';
import { Terminal } from './terminal';

/** Folders that a clone lacks or tutorials do not need. */
const LEFT_OUT = new Set(['node_modules', '.git', 'data', 'coverage', 'test', 'bench', 'docs']);

const isOfClone = (name: string): boolean => !LEFT_OUT.has(name) && !name.startsWith('dist-');

/** Creates a copy of the project, as after `npm ci`. */
function clone(): string {
  const folder = temporaryFolder();
  const parts = readdirSync(TOP).filter(isOfClone);
  // Keeps modification times, so that a start does not compile.
  execFileSync('cp', ['-a', ...parts.map((name) => path.join(TOP, name)), folder]);
  symlinkSync(path.join(TOP, 'node_modules'), path.join(folder, 'node_modules'));
  return folder;
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

interface TutorialOptions {
  /** Settings that avoid conflicts with other programs of this machine, such as free ports. */
  env: Readonly<Record<string, string>>;
  /** Replacements of the tutorial's addresses, by their text. */
  here?: Readonly<Record<string, string>>;
  /** Actions of people between commands, by the word `by=…` of the block with their result. */
  people?: Readonly<Record<string, (terminal: Terminal) => Promise<void>>>;
}

/**
 * Follows a tutorial literally. Words after the language of a code block, which readers do not see, say how to use it:
 *
 * - `sh` runs in the first terminal and must succeed; with `in=<name>`, it runs in another and is not waited for
 * - `sh before` is skipped, because the copy is already installed
 * - any language with `file=<path>` is saved under that path
 * - `text` has lines that the last command prints, in this order; each id stands for one printed id
 */
export class Tutorial {
  readonly #folder = clone();
  readonly #options: TutorialOptions;
  readonly #fences: readonly Fence[];
  readonly #terminals = new Map<string, Terminal>();
  readonly #here: Map<string, string>;
  #last: { terminal: Terminal; text: string | undefined } | undefined;

  constructor(file: string, options: TutorialOptions) {
    this.#options = options;
    this.#fences = readPage(file).fences;
    this.#here = new Map(Object.entries(options.here ?? {}));
  }

  async follow(): Promise<void> {
    for (const fence of this.#fences)
      await this.#carryOut(fence).catch((cause: unknown) => {
        throw new Error(`${fence.file}:${fence.line}: ${String(cause)}`, { cause });
      });
  }

  async #carryOut(fence: Fence): Promise<void> {
    const { language, words } = fence;
    const [name, value = ''] = words[0]?.split('=') ?? [];
    if (name === 'file') return this.#save(value, fence.code);
    if (language === 'text') return this.#shows(fence.code, value);
    if (language === 'sh' && name === 'before') return;
    if (language !== 'sh') throw new Error('A code block of this kind is not supported in tutorials.');
    const command = this.#translated(fence.code);
    const terminal = this.#terminal(name === 'in' ? value : 'first');
    if (name === 'in') terminal.start(command);
    this.#last = { terminal, text: name === 'in' ? undefined : await terminal.run(command) };
  }

  #save(file: string, code: string): void {
    const place = path.join(this.#folder, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, this.#translated(code));
  }

  async #shows(code: string, by: string): Promise<void> {
    if (!this.#last) throw new Error('There is no command before this output.');
    const { terminal, text } = this.#last;
    await this.#options.people?.[by]?.(terminal);
    if (text === undefined) await until(() => this.#isIn(code, terminal.output));
    else if (!this.#isIn(code, text)) throw new Error(`Expected output:\n${code}\nActual output:\n${text}`);
    this.#learnAddresses(terminal.output);
  }

  #learnAddresses(output: string): void {
    const printed = /(GraphQL|sandbox) +http:\/\/127\.0\.0\.1:(\d+)/g;
    for (const [, name, port] of output.matchAll(printed))
      this.#here.set(`127.0.0.1:${name === 'GraphQL' ? 4000 : 4001}`, `127.0.0.1:${port}`);
  }

  #translated(text: string): string {
    return [...this.#here].reduce((here, [there, stands]) => here.replaceAll(there, stands), text);
  }

  #isIn(code: string, output: string): boolean {
    const printed = output.split('\n').map((line) => line.trimEnd());
    let place = 0;
    for (const line of code.trimEnd().split('\n')) {
      const found = printed.slice(place).findIndex((other) => this.#fits(line.trimEnd(), other));
      if (found === -1) return false;
      place += found + 1;
    }
    return true;
  }

  #fits(shown: string, printed: string): boolean {
    const ids = [...shown.matchAll(UUID)].map(([id]) => id);
    const theirs = [...printed.matchAll(UUID)].map(([id]) => id);
    if (this.#translated(shown.replaceAll(UUID, '')) !== printed.replaceAll(UUID, '')) return false;
    if (!ids.every((id, place) => (this.#here.get(id) ?? theirs[place]) === theirs[place])) return false;
    ids.forEach((id, place) => this.#here.set(id, theirs[place] ?? ''));
    return true;
  }

  #terminal(name: string): Terminal {
    const open = this.#terminals.get(name);
    if (open) return open;
    const terminal = closeAfterTests(new Terminal(this.#folder, this.#options.env));
    this.#terminals.set(name, terminal);
    return terminal;
  }
}
