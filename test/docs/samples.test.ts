import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import {
  NoUnusedFragmentsRule,
  OperationTypeNode,
  getOperationAST,
  isEnumType,
  isExecutableDefinitionNode,
  isUnionType,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { parseAllDocuments } from 'yaml';
import { PUBLIC_ERROR_CODES } from '../../src/http/graphql/error-codes';
import { STARTER_VARIABLES } from '../../src/http/server/starter-document';
import { buildGatewaySchema } from '../../src/resolvers';
import { INPUT_RULE_NAMES } from '../../src/schema/input-rules';
import { VALUE_RULE_NAMES } from '../../src/schema/value-rules';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';
import { TOP, codesIn, exists, readPage, readPages, type Fence } from './support/markdown';
import { isProgram, typeFaults } from './support/type-check';

/** Pages whose samples have tests of their own. */
const RUN_ELSEWHERE = ['docs/clients.md', 'docs/federation.md'];

/** Files that a reader of the docs creates. */
const MADE_BY_READERS = ['src/schema/methods/pay-now.ts', 'test/methods/golden/pay_now.json'];

const schema = buildGatewaySchema();
const pages = readPages();
const fences = pages.flatMap((page) => page.fences);
const where = ({ file, line }: Fence): string => `${file}:${line}`;
const of = (language: string): Fence[] => fences.filter((fence) => fence.language === language);
const here = (samples: readonly Fence[]): Fence[] =>
  samples.filter(({ file }) => !RUN_ELSEWHERE.includes(file));

/** Returns the locations and errors of samples for which `check` throws. */
const faultsOf = (samples: readonly Fence[], check: (code: string) => unknown): string[] =>
  samples.flatMap((sample) => {
    try {
      check(sample.code);
      return [];
    } catch (error) {
      return [`${where(sample)} ${String(error)}`];
    }
  });

describe('The GraphQL samples of the docs', () => {
  /** Validates a sample, which may be an unused fragment. Ignores parts of schemas. */
  function check(code: string): void {
    const document = parse(code);
    if (!document.definitions.every(isExecutableDefinitionNode)) return;
    const rules = specifiedRules.filter(
      (rule) => getOperationAST(document) || rule !== NoUnusedFragmentsRule,
    );
    const [error] = validate(schema, document, rules);
    if (error) throw error;
  }

  test('are valid against the schema', () => {
    expect(of('graphql').length).toBeGreaterThan(1);
    expect(faultsOf(here(of('graphql')), check)).toEqual([]);
  });

  const KNOWN: Readonly<Record<string, unknown>> = { ...STARTER_VARIABLES, channel: CHANNEL };
  /** Returns whether a sample is one query or mutation whose variables are known. */
  function canRun({ code }: Fence): boolean {
    const operation = getOperationAST(parse(code));
    if (!operation || operation.operation === OperationTypeNode.SUBSCRIPTION) return false;
    return (operation.variableDefinitions ?? []).every(({ variable }) => variable.name.value in KNOWN);
  }

  test('run without an error if they are complete queries or mutations', async () => {
    const sandbox = await testSandbox();
    const gateway = await testGateway(sandbox.url);
    const failed: string[] = [];
    for (const sample of here(of('graphql')).filter(canRun)) {
      const { errors, text } = await gateway.request(sample.code, KNOWN);
      if (errors || text.includes('InvalidInputError')) failed.push(`${where(sample)} ${text}`);
    }
    expect(of('graphql').filter(canRun).length).toBeGreaterThan(0);
    expect(failed).toEqual([]);
  });
});

test('Every JSON or YAML sample of the docs can be parsed', () => {
  const readYaml = (code: string): void => {
    for (const { errors } of parseAllDocuments(code)) if (errors[0]) throw errors[0];
  };
  expect(faultsOf(of('json'), JSON.parse)).toEqual([]);
  expect(faultsOf(of('yaml'), readYaml)).toEqual([]);
});

test('Every TypeScript and JavaScript sample of the docs type-checks', () => {
  // The test of a tutorial compiles its files, because they depend on each other.
  const isOfTutorial = ({ file, words }: Fence): boolean =>
    file.startsWith('docs/start-') && Boolean(words[0]?.startsWith('file='));
  const programs = here(fences).filter(isProgram);
  expect(programs.length).toBeGreaterThan(4);
  const code = "import { gql } from '@apollo/client';\nexport const document: number = gql`{ payment }`;\n";
  const wrong: Fence = { file: 'x.md', line: 1, language: 'ts', words: [], code };
  const checked = programs.filter((sample) => sample.language === 'js' || !isOfTutorial(sample));
  // The invalid sample shows that errors are found with their line.
  expect(typeFaults([...checked, wrong])).toEqual([expect.stringMatching(/^x\.md:3 /)]);
});

describe('The commands in the docs', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(TOP, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };

  test('use existing npm scripts', () => {
    const used = pages.flatMap(({ file, inline, fences: blocks }) =>
      [...inline, ...blocks.map(({ code }) => code)]
        .flatMap((text) => [...text.matchAll(/\bnpm (?:run (?:-s |--silent )?([\w:-]+)|(start|test)\b)/g)])
        .map(([, script, short]) => [file, script ?? short ?? ''] as const),
    );
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter(([, name]) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  test('set only environment variables that the project or a later command reads', () => {
    const sources = ['src', 'test', 'scripts', 'bench']
      .flatMap((folder) =>
        readdirSync(path.join(TOP, folder), { recursive: true, encoding: 'utf8' })
          .filter((name) => /\.(ts|mjs|cjs)$/.test(name) && !name.includes('node_modules'))
          .map((name) => readFileSync(path.join(TOP, folder, name), 'utf8')),
      )
      .join('\n');
    const isRead = (name: string): boolean =>
      new RegExp(`\\b${name.replace(/_FILE$/, '(_FILE)?')}\\b`).test(sources);
    // A variable of the shell is used by a later command of the page.
    const isUsed = (page: string, name: string): boolean =>
      of('sh').some(({ file, code }) => file === page && new RegExp(`\\$\\{?${name}\\b`).test(code));
    const unknown = of('sh').flatMap((sample) =>
      [...sample.code.matchAll(/(?<![\w$-])([A-Z][A-Z0-9_]+)=/g)]
        .filter(([, name = '']) => !isUsed(sample.file, name) && !isRead(name))
        .map(([, name]) => `${where(sample)} ${name}`),
    );
    expect(unknown).toEqual([]);
  });
});

test('Every file whose path is in the docs exists in the repository', () => {
  const named = pages
    // docs/testing.md names files relative to test/: links.test.ts checks them.
    .filter(({ file }) => file !== 'docs/testing.md')
    .flatMap(({ inline }) => inline)
    .filter((text) => /^(src|test|scripts|bench|docs|deploy|client|explorer)\/[\w./*-]*$/.test(text));
  expect(named.length).toBeGreaterThan(20);
  // For a pattern with *, only the folder is checked.
  const isReal = (text: string): boolean =>
    MADE_BY_READERS.includes(text) || exists(text.replace(/\/[^/]*\*.*$/, ''));
  expect(named.filter((text) => !isReal(text))).toEqual([]);
});

describe('docs/results.md', () => {
  const { rows } = readPage('docs/results.md');

  const namesOf = (...types: string[]): string[] =>
    types.flatMap((name) => {
      const type = schema.getType(name);
      if (isEnumType(type)) return type.getValues().map((value) => value.name);
      return isUnionType(type) ? type.getTypes().map((member) => member.name) : [];
    });

  const RESULTS = namesOf('CreatePaymentResult', 'ConfirmPaymentResult', 'CreatePayoutResult');

  test.each<[heading: string, column: string, words: readonly string[]]>([
    ['GraphQL errors', '`code`', PUBLIC_ERROR_CODES],
    ['What a mutation can answer', '`__typename`', RESULTS],
    ['What a mutation can answer', '`code`', namesOf('UserErrorCode')],
    ['The rules of inputs', '`rule`', [...INPUT_RULE_NAMES, ...VALUE_RULE_NAMES]],
    ["What a payment's status asks for", '`status`', namesOf('PaymentStatus')],
    ["What a payment's status asks for", '`nextAction`', namesOf('NextAction')],
    ['Why it was declined', '`error.code`', namesOf('DeclineCode')],
    ['Why it was declined', '`error.reason`', namesOf('DeclineReason')],
  ])('explains under the heading "%s" every value of %s', (heading, column, words) => {
    const explained = rows
      .filter(({ under }) => under.at(-1) === heading)
      .flatMap(({ columns, cells }) => codesIn(cells[columns.indexOf(column)]));
    if (column === '`nextAction`') expect(explained).toEqual(expect.arrayContaining([...words]));
    else expect(explained.sort()).toEqual([...new Set(words)].sort());
  });
});
