import path from 'node:path';
import { isThere, readPage, readPages, type Page } from './support/markdown';

const pages = readPages();
const isOutside = (href: string): boolean => /^[a-z][a-z+.-]*:/i.test(href);

/** What a link of a page leads to: a path from the top folder, and an anchor in it. */
function target(page: Page, href: string): { file: string; anchor: string } {
  const [to = '', anchor = ''] = href.split('#').map(decodeURIComponent);
  const file = to === '' ? page.file : path.posix.join(path.posix.dirname(page.file), to);
  return { file, anchor };
}

function isBroken(page: Page, href: string): boolean {
  const { file, anchor } = target(page, href);
  if (file.startsWith('..') || !isThere(file)) return true;
  const mayHaveAnchor = anchor !== '' && file.endsWith('.md');
  return mayHaveAnchor && !readPage(file).anchors.has(anchor);
}

test.each(pages.map((page) => [page.file, page] as const))(
  'every link in %s leads somewhere',
  (file, page) => {
    const broken = page.links.filter(({ href }) => !isOutside(href) && isBroken(page, href));
    expect(broken.map(({ href, line }) => `${file}:${line} ${href}`)).toEqual([]);
  },
);

test('every page of the docs is in the index, docs/README.md', () => {
  const index = readPage('docs/README.md');
  const listed = new Set(index.links.map(({ href }) => target(index, href).file));
  const isOfDocs = ({ file }: Page): boolean => file.startsWith('docs/') && file !== index.file;
  expect(pages.filter((page) => isOfDocs(page) && !listed.has(page.file)).map(({ file }) => file)).toEqual(
    [],
  );
});

test('the README leads to the index', () => {
  const readme = readPage('README.md');
  expect(readme.links.map(({ href }) => target(readme, href).file)).toContain('docs/README.md');
});
