import { readdirSync } from 'node:fs';
import path from 'node:path';
import { TOP, codesIn, exists, readPage, readPages, type Page } from './support/markdown';

const pages = readPages();

/** Returns the file and the anchor that a link names. */
function target(page: Page, href: string) {
  const [to = '', anchor = ''] = href.split('#').map(decodeURIComponent);
  return { file: to === '' ? page.file : path.posix.join(path.posix.dirname(page.file), to), anchor };
}

function isBroken(page: Page, href: string): boolean {
  const { file, anchor } = target(page, href);
  if (file.startsWith('..') || !exists(file)) return true;
  return anchor !== '' && file.endsWith('.md') && !readPage(file).anchors.has(anchor);
}

test.each(pages)('Every link in $file has an existing target', (page) => {
  const broken = page.links.filter(({ href }) => !/^[a-z][a-z+.-]*:/i.test(href) && isBroken(page, href));
  expect(broken).toEqual([]);
});

test('Every page of the docs is in the index, docs/README.md', () => {
  const index = readPage('docs/README.md');
  const listed = index.links.map(({ href }) => target(index, href).file);
  const files = pages.map(({ file }) => file).filter((file) => file.startsWith('docs/'));
  expect([index.file, ...listed]).toEqual(expect.arrayContaining(files));
});

describe('docs/testing.md', () => {
  const rows = readPage('docs/testing.md').rows.filter(({ columns }) => columns.includes('tested in'));
  const named = rows.map(({ cells: [promise = '', tests] }) => ({ promise, files: codesIn(tests) }));

  test.each(named)('names one or two existing test files for the promise: $promise', ({ files }) => {
    expect([1, 2]).toContain(files.length);
    expect(files.filter((file) => !file.endsWith('.test.ts') || !exists(`test/${file}`))).toEqual([]);
  });

  test('has a row for each directory of test/ with tests', () => {
    const directories = readdirSync(path.join(TOP, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => path.dirname(file));
    const covered = named.flatMap(({ files }) => files.map((file) => path.dirname(file)));
    expect(covered).toEqual(expect.arrayContaining(directories));
  });
});
