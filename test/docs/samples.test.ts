import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import {
  Kind,
  NoUnusedFragmentsRule,
  isExecutableDefinitionNode,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
} from 'graphql';
import { parseAllDocuments } from 'yaml';
import { STARTER_VARIABLES } from '../../src/http/starter-document';
import { gatewaySchema } from '../../src/resolvers';
import { SETTINGS } from '../../src/settings-table';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';
import { TOP, isThere, readPages, type Fence } from './support/markdown';
import { isProgram, typeFaults } from './support/type-check';

/** Languages that are shown and not checked here. */
const SHOWN = ['text', 'mermaid', 'nginx', 'ini', 'dockerfile', 'promql', 'http', 'diff'];
const CHECKED = ['graphql', 'json', 'yaml', 'sh', 'ts', 'tsx', 'js', 'python'];

/** Samples that show a part of something on purpose: marked `partial`, not checked, and few. */
const PARTIAL: readonly string[] = [];

/** Pages whose samples need more than this repository around them, and the folder of tests that runs every one. */
const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/clients.md': 'test/client-kit',
  'docs/federation.md': 'test/federation',
};

/** What pages name that a reader makes. */
const MADE_BY_READERS = ['src/schema/methods/pay-now.ts', 'test/methods/golden/pay_now.json'];

const pages = readPages();
const fences = pages.flatMap((page) => page.fences);
const whole = fences.filter(({ words }) => !words.includes('partial'));
const where = ({ file, line }: Fence): string => `${file}:${line}`;
const of = (language: string): Fence[] => whole.filter((fence) => fence.language === language);
/** Those that are not run elsewhere. */
const here = (samples: readonly Fence[]): Fence[] => samples.filter(({ file }) => !(file in RUN_ELSEWHERE));

/** The places of samples for which a check throws, and what it says. */
const faultsOf = (samples: readonly Fence[], check: (code: string) => unknown): string[] =>
  samples.flatMap((sample) => {
    try {
      check(sample.code);
      return [];
    } catch (error) {
      return [`${where(sample)} ${(error as Error).message}`];
    }
  });

test('every block says its language, and each is checked or known to be only shown', () => {
  const others = fences.filter(({ language }) => ![...SHOWN, ...CHECKED].includes(language));
  expect(others.map((fence) => `${where(fence)} ${fence.language}`)).toEqual([]);
});

test('the samples that are parts of something are these and no more', () => {
  const partial = fences.filter(({ words }) => words.includes('partial'));
  expect(partial.map(({ file, language }) => `${file} ${language}`)).toEqual(PARTIAL);
});

test('what is not run here is run by tests of its own, which read the page', () => {
  const unread = Object.entries(RUN_ELSEWHERE).filter(([file, folder]) => {
    if (!isThere(file)) return false;
    const files = readdirSync(path.join(TOP, folder), { recursive: true, encoding: 'utf8' });
    const read = files.filter((name) => name.endsWith('.ts')).map((name) => path.join(TOP, folder, name));
    return !read.some((name) => readFileSync(name, 'utf8').includes(path.basename(file)));
  });
  expect(unread).toEqual([]);
});

describe('GraphQL', () => {
  const schema = gatewaySchema();
  /** A page may show a fragment alone, or a part of another schema, as that of a neighbour in a federation. */
  function check(code: string): void {
    const document = parse(code);
    if (!document.definitions.every(isExecutableDefinitionNode)) return;
    const isFragment = document.definitions.every(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
    const rules = specifiedRules.filter((rule) => !isFragment || rule !== NoUnusedFragmentsRule);
    const [error] = validate(schema, document, rules);
    if (error) throw error;
  }

  test('every sample fits the schema', () => {
    expect(of('graphql').length).toBeGreaterThan(1);
    expect(faultsOf(here(of('graphql')), check)).toEqual([]);
  });

  const KNOWN: Readonly<Record<string, unknown>> = { ...STARTER_VARIABLES, channel: CHANNEL };
  /** Whether a sample is one query or mutation whose variables, if any, can be filled in. */
  function canRun({ code }: Fence): boolean {
    const document: DocumentNode = parse(code);
    const operations = document.definitions.flatMap((node) =>
      node.kind === Kind.OPERATION_DEFINITION ? [node] : [],
    );
    const [operation] = operations;
    if (!operation || operations.length > 1 || operation.operation === 'subscription') return false;
    return (operation.variableDefinitions ?? []).every(({ variable }) => variable.name.value in KNOWN);
  }

  test('every query and mutation that is complete is carried out without an error', async () => {
    const sandbox = await testSandbox();
    const gateway = await testGateway(sandbox.url);
    const failed: string[] = [];
    for (const sample of here(of('graphql')).filter(canRun)) {
      const { errors, text } = await gateway.ask(sample.code, KNOWN);
      if (errors || text.includes('InvalidInputError')) failed.push(`${where(sample)} ${text}`);
    }
    expect(of('graphql').filter(canRun).length).toBeGreaterThan(0);
    expect(failed).toEqual([]);
  });
});

test('every sample of JSON and YAML can be read', () => {
  const readYaml = (code: string): void => {
    for (const { errors } of parseAllDocuments(code)) if (errors[0]) throw errors[0];
  };
  expect(faultsOf(of('json'), JSON.parse)).toEqual([]);
  expect(faultsOf(of('yaml'), readYaml)).toEqual([]);
});

test('every sample of Python is a part of the example, which a test of its own runs', () => {
  const folder = path.join(TOP, 'examples/python');
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith('.py'))
    .map((name) => readFileSync(path.join(folder, name), 'utf8').replace(/^ +/gm, ''));
  const samples = of('python');
  expect(samples.length).toBeGreaterThan(0);
  const isPart = ({ code }: Fence): boolean =>
    lines.some((text) => text.includes(code.trim().replace(/^ +/gm, '')));
  expect(samples.filter((sample) => !isPart(sample)).map(where)).toEqual([]);
});

test('what the compiler says is heard', () => {
  const wrong: Fence = {
    file: 'x.md',
    line: 1,
    language: 'ts',
    words: [],
    under: [],
    code: "import { gql } from '@apollo/client';\nexport const document: number = gql`{ payment }`;\n",
  };
  expect(typeFaults([wrong])).toEqual([
    expect.stringMatching(/^x\.md:3 Type 'DocumentNode' is not assignable/),
  ]);
}, 120_000);

test('every program type-checks', () => {
  // What a tutorial saves has files beside it: its own test has the compiler look at all of them.
  const isOfTutorial = ({ file, words }: Fence): boolean =>
    file.startsWith('docs/start-') && Boolean(words[0]?.startsWith('file='));
  const programs = here(whole).filter(isProgram);
  expect(programs.length).toBeGreaterThan(4);
  expect(typeFaults(programs.filter((sample) => sample.language === 'js' || !isOfTutorial(sample)))).toEqual(
    [],
  );
}, 120_000);

describe('Commands', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(TOP, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const hasScript = (name: string): boolean => Object.hasOwn(scripts, name);

  test('every npm script that is named exists', () => {
    const texts = pages.flatMap(({ file, inline, fences: blocks }) =>
      [...inline, ...blocks.map(({ code }) => code)].map((text) => [file, text] as const),
    );
    const named = texts.flatMap(([file, text]) =>
      [...text.matchAll(/\bnpm (?:run (?:-s |--silent )?([\w:-]+)|(start|test)\b)/g)].map(
        ([, run, short]) => [file, run ?? short ?? ''] as const,
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(([, name]) => !hasScript(name))).toEqual([]);
  });

  test('every setting that a command gives is one, or is read by something else of the project', () => {
    const settings = new Set(Object.keys(SETTINGS).flatMap((name) => [name, `${name}_FILE`]));
    const sources = ['src', 'test', 'scripts', 'bench']
      .flatMap((folder) =>
        readdirSync(path.join(TOP, folder), { recursive: true, encoding: 'utf8' })
          .filter((name) => /\.(ts|mjs|cjs)$/.test(name) && !name.includes('node_modules'))
          .map((name) => readFileSync(path.join(TOP, folder, name), 'utf8')),
      )
      .join('\n');
    const isUsed = (file: string, name: string): boolean =>
      of('sh').some((other) => other.file === file && new RegExp(`\\$\\{?${name}\\b`).test(other.code));
    const unknown = of('sh').flatMap((sample) =>
      [...sample.code.matchAll(/(?<![\w$-])([A-Z][A-Z0-9_]+)=/g)]
        .map(([, name = '']) => name)
        // A variable of the shell, for a later command of the page.
        .filter((name) => !isUsed(sample.file, name))
        .filter((name) => !settings.has(name) && !new RegExp(`\\b${name}\\b`).test(sources))
        .map((name) => `${where(sample)} ${name}`),
    );
    expect(unknown).toEqual([]);
  });
});

test('every file of the project that is named exists', () => {
  const named = pages.flatMap(({ file, inline }) =>
    inline
      .filter((text) => /^(src|test|scripts|bench|docs|deploy|client|explorer)\/[\w./*-]*$/.test(text))
      .map((text) => [file, text] as const),
  );
  // Of a pattern, the folder.
  const isReal = (text: string): boolean =>
    MADE_BY_READERS.includes(text) || isThere(text.replace(/\/[^/]*\*.*$/, ''));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(([, text]) => !isReal(text))).toEqual([]);
});
