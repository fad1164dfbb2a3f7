import fc from 'fast-check';
import { Kind, parse, print, type DocumentNode, type FieldNode, type SelectionSetNode } from 'graphql';
import { DocumentLimits } from '../../src/http/document-limits';
import { Overlaps } from '../../src/http/document-overlaps';
import { DocumentSizes, fragmentsOf } from '../../src/http/document-sizes';

const times = (count: number, text: (place: number) => string): string =>
  Array.from({ length: count }, (_, place) => text(place)).join(' ');

const doubling = (levels: number): string =>
  times(levels, (n) => `fragment F${n} on Query { a { ...F${n + 1} ...F${n + 1} } }`);

/** Documents that are cheap to send and dear to read. */
const BOMBS: [what: string, document: string][] = [
  ['one field, thousands of times', `{ ${'a '.repeat(4900)} }`],
  ['one field in one field, each many times', `{ ${`a { ${'b '.repeat(48)} } `.repeat(96)} }`],
  ['three levels of the same', `{ ${`a { ${`b { ${'c '.repeat(9)} } `.repeat(16)} } `.repeat(20)} }`],
  ['the same in inline fragments', `{ ${'... on Query { a { b } } '.repeat(450)} }`],
  ['one field with ever other arguments', `{ ${times(600, (n) => `a(b: ${n})`)} }`],
  [
    'many fragments side by side, with the same fields',
    `{ ${times(80, (n) => `...F${n}`)} } ${times(80, (n) => `fragment F${n} on Query { a { b c d } e f }`)}`,
  ],
  [
    'many fragments side by side, with other fields',
    `{ ${times(99, (n) => `...F${n}`)} ...F0 } ${times(99, (n) => `fragment F${n} on Query { ...G${n} ${times(30, (m) => `f${m}`)} }`)}`,
  ],
  [
    'fragments that double',
    `{ ...F0 } ${doubling(15)} fragment F15 on Query { ...F16 a } fragment F16 on Query { ${'a '.repeat(50)} }`,
  ],
  ['fragments that double, spread by nobody', `{ a } ${doubling(20)} fragment F20 on Query { a }`],
  [
    'every fragment in every later one',
    times(60, (n) => `fragment F${n} on Query { a ${times(n, (m) => `...F${m}`)} }`),
  ],
  [
    'fragments in circles',
    `{ ...F0 } ${times(90, (n) => `fragment F${n} on Query { ...F${(n + 1) % 90} ...F0 }`)}`,
  ],
  ['many errors far down', `${'\n'.repeat(90_000)}{ ${times(100, (n) => `unknown${n}`)} }`],
  ['many errors behind many comments', `${'#\n'.repeat(45_000)}{ ${times(100, (n) => `unknown${n}`)} }`],
  ['many long names', `{ ${times(100, (n) => `${'z'.repeat(900)}${n}`)} }`],
  ['one variable, many times', `query (${'$a: Int '.repeat(1200)}) { a }`],
  ['thousands of operations', times(900, (n) => `query Q${n} { a }`)],
  ['thousands of subscriptions', times(300, (n) => `subscription S${n} { a b c }`)],
  ['thousands of directives', `{ a ${'@include(if: true) '.repeat(600)} }`],
  ['a deep list', `query ($a: Int = ${'['.repeat(2400)}${']'.repeat(2400)}) { a }`],
  ['a deep object', `{ a(b: ${'{c:'.repeat(1600)}1${'}'.repeat(1600)}) }`],
  ['a deep type', `query ($a: ${'['.repeat(2400)}Int${']'.repeat(2400)}) { a }`],
  ['a deep selection', `${'{a'.repeat(2400)}${'}'.repeat(2400)}`],
  ['a deep selection that never ends', '{a'.repeat(2400)],
  ['deep inline fragments', `${'{...'.repeat(1600)}{a}${'}'.repeat(1600)}`],
  [
    'the schema, over and over',
    `{ ${times(40, (n) => `a${n}: __schema { types { fields { args { name } } } }`)} }`,
  ],
  [
    'the schema, every name a hundred times',
    `{ __schema { types { fields { type { possibleTypes { ${times(99, (n) => `a${n}: name`)} } } } } } }`,
  ],
];

test.each(BOMBS)('a bomb is refused before it is validated: %s', (_what, document) => {
  expect(new DocumentLimits().check(document)).toMatchObject({ ok: false });
});

/** One name out of a few, so that fields meet. */
const name = fc.constantFrom('a', 'b', 'c');

/** A selection set that spreads only these fragments. */
const selectionSet = (spreads: readonly string[]) =>
  fc.letrec<{ set: string; selection: string }>((tie) => ({
    set: fc.array(tie('selection'), { minLength: 1, maxLength: 4 }).map((all) => `{ ${all.join(' ')} }`),
    selection: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      name,
      fc.tuple(name, name).map(([alias, field]) => `${alias}: ${field}`),
      ...(spreads.length > 0 ? [fc.constantFrom(...spreads).map((fragment) => `...${fragment}`)] : []),
      fc.tuple(name, tie('set')).map(([field, set]) => `${field} ${set}`),
      tie('set').map((set) => `... ${set}`),
    ),
  })).set;

const FRAGMENTS = ['F', 'G', 'H'];

/** Small documents; a fragment spreads only those that come after it. */
const withFragments = fc
  .tuple(
    selectionSet(FRAGMENTS),
    ...FRAGMENTS.map((fragment, place) =>
      selectionSet(FRAGMENTS.slice(place + 1)).map((set) => `fragment ${fragment} on Query ${set}`),
    ),
  )
  .map((parts) => parse(parts.join('\n')));

const withoutFragments = selectionSet([]).map((set) => parse(set));

const setsOf = ({ definitions }: DocumentNode): SelectionSetNode[] =>
  definitions.flatMap((definition) => ('selectionSet' in definition ? [definition.selectionSet] : []));

/** The document's only operation with everything that fragments stand for written out. */
function writtenOut(document: DocumentNode): SelectionSetNode {
  const fragments = fragmentsOf(document);
  const write = ({ selections, ...set }: SelectionSetNode): SelectionSetNode => ({
    ...set,
    selections: selections.map((selection) => {
      if (selection.kind !== Kind.FRAGMENT_SPREAD)
        return {
          ...selection,
          ...(selection.selectionSet && { selectionSet: write(selection.selectionSet) }),
        };
      return {
        kind: Kind.INLINE_FRAGMENT,
        selectionSet: write(fragments.get(selection.name.value)!.selectionSet),
      };
    }),
  });
  return write(setsOf(document)[0]!);
}

test('what is counted through fragments is what stands there when they are written out', () => {
  fc.assert(
    fc.property(withFragments, (document) => {
      const long = writtenOut(document);
      // A word that opens, spreads or names: nothing else is left of the document.
      const text = print(long).replace(/\w+: /g, '');
      const counted = new DocumentSizes(fragmentsOf(document)).of(setsOf(document)[0]!);
      expect(counted).toEqual({
        selections: text.match(/\w+|\.\.\./g)?.length,
        aliases: print(long).match(/: /g)?.length ?? 0,
        depth: deepest(long, (selection) => selection.kind === Kind.FIELD),
        lists: 0,
        nesting: deepest(long, (selection) => 'selectionSet' in selection && !!selection.selectionSet) + 1,
      });
    }),
  );
});

function deepest(
  { selections }: SelectionSetNode,
  counts: (selection: SelectionSetNode['selections'][number]) => boolean,
): number {
  const depths = selections.map((selection) => {
    const inner = selection.kind === Kind.FRAGMENT_SPREAD ? undefined : selection.selectionSet;
    return (counts(selection) ? 1 : 0) + (inner ? deepest(inner, counts) : 0);
  });
  return Math.max(...depths);
}

/** Every field of a definition with its place in the answer, all fragments followed. */
function places(
  set: SelectionSetNode,
  document: DocumentNode,
  above = '',
): [place: string, field: FieldNode][] {
  return set.selections.flatMap((selection) => {
    if (selection.kind === Kind.INLINE_FRAGMENT) return places(selection.selectionSet, document, above);
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = fragmentsOf(document).get(selection.name.value)!;
      return places(fragment.selectionSet, document, above);
    }
    const place = `${above}/${(selection.alias ?? selection.name).value}`;
    const inner = selection.selectionSet ? places(selection.selectionSet, document, place) : [];
    return [[place, selection] as [string, FieldNode], ...inner];
  });
}

/** Every two fields that share a place, by comparing each with each. */
function sharing(document: DocumentNode): [one: FieldNode, other: FieldNode][] {
  return setsOf(document).flatMap((set) => {
    const all = places(set, document);
    return all.flatMap(([place, one], index) =>
      all
        .slice(index + 1)
        .flatMap(([otherPlace, other]) =>
          place === otherPlace && one !== other ? [[one, other] as [FieldNode, FieldNode]] : [],
        ),
    );
  });
}

function overlaps(document: DocumentNode): number {
  const counted = new Overlaps(fragmentsOf(document));
  for (const set of setsOf(document)) counted.add(set);
  return counted.count;
}

test('without fragments, the pairs that are counted are those that share a place', () => {
  fc.assert(
    fc.property(withoutFragments, (document) => {
      expect(overlaps(document)).toBe(sharing(document).length);
    }),
  );
});

test('with fragments, no two fields that share a place are overlooked', () => {
  fc.assert(
    fc.property(withFragments, (document) => {
      const ids = new Map<FieldNode, number>();
      for (const field of sharing(document).flat()) if (!ids.has(field)) ids.set(field, ids.size);
      const idOf = (field: FieldNode) => ids.get(field)!;
      const different = new Set(
        sharing(document).map(([one, other]) => [idOf(one), idOf(other)].sort((a, b) => a - b).join()),
      );
      expect(overlaps(document)).toBeGreaterThanOrEqual(different.size);
    }),
  );
});
