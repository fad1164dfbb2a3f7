import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';

/** The top folder of the project. */
export const TOP = path.resolve(__dirname, '../../..');

/** Whether a file of the project is there; `file` is its path from the top folder. */
export const isThere = (file: string): boolean => existsSync(path.join(TOP, file));

/** A fenced block. */
export interface Fence {
  /** The file's path from the top folder. */
  file: string;
  /** The line of its first backticks. */
  line: number;
  /** `''` where none is named. */
  language: string;
  /** The words after the language. Readers do not see them; tests know samples by them. */
  words: readonly string[];
  code: string;
}

export interface Link {
  /** As it is written. */
  href: string;
  line: number;
}

/** A markdown file, taken apart. */
export interface Page {
  /** Its path from the top folder. */
  file: string;
  fences: readonly Fence[];
  /** Links and images. */
  links: readonly Link[];
  /** What a link may name behind a #, as GitHub makes it from the headings. */
  anchors: ReadonlySet<string>;
  /** What stands between single backticks. */
  inline: readonly string[];
  /** The rows of its tables, cell by cell as they are written, headings left out. */
  rows: readonly Row[];
}

export interface Row {
  /** The headings that the table stands under, outermost first. */
  under: readonly string[];
  columns: readonly string[];
  cells: readonly string[];
}

const markdown = new MarkdownIt({ html: true });
const NOT_OURS = new Set(['node_modules', 'dist', 'data', 'coverage']);

/** Every markdown file of the project, by its path from the top folder. */
export const markdownFiles = (folder = ''): string[] =>
  readdirSync(path.join(TOP, folder), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !NOT_OURS.has(name) && !name.startsWith('dist-'))
    .flatMap((entry) => {
      const file = path.posix.join(folder, entry.name);
      if (entry.isDirectory()) return markdownFiles(file);
      return entry.name.endsWith('.md') ? [file] : [];
    });

/** A heading as GitHub writes it into addresses. */
const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');

const textOf = (inline: Token): string =>
  (inline.children ?? [])
    .filter(({ type }) => ['text', 'code_inline'].includes(type))
    .map(({ content }) => content)
    .join('');

const HTML_LINK = /<(?:a|img|source)\s[^>]*?(?:href|src|srcset)="([^"]+)"/g;

function linksOf(token: Token, line: number): Link[] {
  if (token.type === 'html_block' || token.type === 'html_inline')
    return [...token.content.matchAll(HTML_LINK)].map(([, href = '']) => ({ href, line }));
  const href = token.attrGet('href') ?? token.attrGet('src');
  const inner = (token.children ?? []).flatMap((child) => linksOf(child, line));
  return href === null ? inner : [{ href: String(href), line }, ...inner];
}

/** Reads a markdown file; `file` is its path from the top folder. */
export function readPage(file: string): Page {
  const fences: Fence[] = [];
  const links: Link[] = [];
  const anchors = new Set<string>();
  const inline: string[] = [];
  const rows: Row[] = [];
  let under: string[] = [];
  let columns: string[] = [];
  let cells: string[] = [];
  let line = 0;
  const tokens = markdown.parse(readFileSync(path.join(TOP, file), 'utf8'), {});
  for (const [place, token] of tokens.entries()) {
    line = token.map ? token.map[0] + 1 : line;
    const before = tokens[place - 1];
    links.push(...linksOf(token, line));
    for (const child of token.children ?? []) if (child.type === 'code_inline') inline.push(child.content);
    if (token.type === 'fence') {
      const [language = '', ...words] = token.info.trim().split(/\s+/);
      fences.push({ file, line, language, words, code: token.content });
    } else if (before?.type === 'heading_open') {
      const heading = textOf(token);
      under = [...under.slice(0, Number(before.tag.slice(1)) - 1), heading];
      let anchor = slug(heading);
      for (let again = 1; anchors.has(anchor); again += 1) anchor = `${slug(heading)}-${again}`;
      anchors.add(anchor);
    } else if (before?.type === 'th_open' || before?.type === 'td_open') {
      cells.push(token.content);
    } else if (token.type === 'tr_close') {
      if (before?.type === 'th_close') columns = cells;
      else rows.push({ under: [...under], columns, cells });
      cells = [];
    }
  }
  return { file, fences, links, anchors, inline, rows };
}

/** Every markdown file of the project. */
export const readPages = (): Page[] => markdownFiles().map(readPage);

/** Everything between single backticks in a cell. */
export const codesIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
