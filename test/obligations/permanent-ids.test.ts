import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf } from './obligation';
import { obligations } from './obligations';

const COMMENT = /^(#|$)/;
const RETIRED = /^([A-Z]+-\d{3}) RETIRED /;

const lines = readFileSync(join(__dirname, 'permanent-ids.txt'), 'utf8')
  .split('\n')
  .filter((line) => !COMMENT.test(line));
const retired = lines.flatMap((line) => RETIRED.exec(line)?.[1] ?? []);

describe('the ids of the obligations', () => {
  test('are an area and three digits, and no two are alike', () => {
    const ids = obligations.map(({ id }) => id);
    expect(ids.filter((id) => !/^(AUTH|PAY|CNF|OUT|LOOK|ERR|LIM)-\d{3}$/.test(id))).toEqual([]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test('are the committed ones, and each still says what it said', () => {
    const committed = lines.filter((line) => !RETIRED.test(line));
    expect(obligations.map(nameOf).sort()).toEqual(committed.sort());
  });

  test('are never used again once retired', () => {
    const listed = lines.map((line) => line.split(' ')[0] ?? '');
    expect(listed.filter((id, index) => listed.indexOf(id) !== index)).toEqual([]);
    expect(obligations.filter(({ id }) => retired.includes(id))).toEqual([]);
  });

  test('belong to sentences that differ, each with a section of the specification', () => {
    const sentences = obligations.map(({ says }) => says);
    expect(sentences.filter((says, index) => sentences.indexOf(says) !== index)).toEqual([]);
    expect(obligations.filter(({ spec }) => !/^\d(\.\d)?/.test(spec))).toEqual([]);
  });
});
