import { readdirSync } from 'node:fs';
import path from 'node:path';
import { TOP, codesIn, exists, readPage, readPages, type Page } from './support/markdown';

const pages = readPages();
const isOutside = (href: string): boolean => /^[a-z][a-z+.-]*:/i.test(href);

/** Returns the file and the anchor that a link names. */
function target(page: Page, href: string): { file: string; anchor: string } {
  const [to = '', anchor = ''] = href.split('#').map(decodeURIComponent);
  const file = to === '' ? page.file : path.posix.join(path.posix.dirname(page.file), to);
  return { file, anchor };
}

function isBroken(page: Page, href: string): boolean {
  const { file, anchor } = target(page, href);
  if (file.startsWith('..') || !exists(file)) return true;
  const mayHaveAnchor = anchor !== '' && file.endsWith('.md');
  return mayHaveAnchor && !readPage(file).anchors.has(anchor);
}

test.each(pages.map((page) => [page.file, page] as const))(
  'Every link in %s has an existing target',
  (file, page) => {
    const broken = page.links.filter(({ href }) => !isOutside(href) && isBroken(page, href));
    expect(broken.map(({ href, line }) => `${file}:${line} ${href}`)).toEqual([]);
  },
);

test('Every page of the docs is in the index, docs/README.md', () => {
  const index = readPage('docs/README.md');
  const listed = new Set(index.links.map(({ href }) => target(index, href).file));
  const isOfDocs = ({ file }: Page): boolean => file.startsWith('docs/') && file !== index.file;
  expect(pages.filter((page) => isOfDocs(page) && !listed.has(page.file)).map(({ file }) => file)).toEqual(
    [],
  );
});

describe('docs/testing.md', () => {
  const rows = readPage('docs/testing.md').rows.filter(({ columns }) => columns.includes('tested in'));
  const named = rows.map(({ cells: [promise = '', tests] }) => ({ promise, files: codesIn(tests) }));

  test('names one or two existing test files for each promise', () => {
    const wrong = named.filter(
      ({ files }) =>
        files.length < 1 ||
        files.length > 2 ||
        !files.every((file) => file.endsWith('.test.ts') && exists(`test/${file}`)),
    );
    expect(wrong).toEqual([]);
  });

  test('has a row for each directory of test/ with tests', () => {
    const directories = readdirSync(path.join(TOP, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => path.dirname(file));
    const covered = new Set(named.flatMap(({ files }) => files.map((file) => path.dirname(file))));
    expect([...new Set(directories)].filter((directory) => !covered.has(directory))).toEqual([]);
  });
});
