import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';

export const TOP = path.resolve(__dirname, '../../..');

export const exists = (file: string): boolean => existsSync(path.join(TOP, file));

export interface Fence {
  file: string;
  /** The line of the opening backticks. */
  line: number;
  /** Empty if none is given. */
  language: string;
  /** The words after the language. Readers do not see them; tests find samples by them. */
  words: readonly string[];
  code: string;
}

interface Link {
  href: string;
  line: number;
}

export interface Page {
  file: string;
  fences: readonly Fence[];
  links: readonly Link[];
  /** Anchors of the headings, as GitHub creates them. */
  anchors: ReadonlySet<string>;
  /** Texts between single backticks. */
  inline: readonly string[];
  /** The rows of all tables, without header rows. */
  rows: readonly Row[];
}

export interface Row {
  /** The headings above the table, outermost first. */
  under: readonly string[];
  columns: readonly string[];
  cells: readonly string[];
}

const markdown = new MarkdownIt({ html: true });
const EXCLUDED = new Set(['node_modules', 'dist', 'data', 'coverage']);

const markdownFiles = (folder = ''): string[] =>
  readdirSync(path.join(TOP, folder), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !EXCLUDED.has(name) && !name.startsWith('dist-'))
    .flatMap((entry) => {
      const file = path.posix.join(folder, entry.name);
      if (entry.isDirectory()) return markdownFiles(file);
      return entry.name.endsWith('.md') ? [file] : [];
    });

/** Returns the anchor of a heading, as GitHub creates it. */
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

export const readPages = (): Page[] => markdownFiles().map(readPage);

export const codesIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
