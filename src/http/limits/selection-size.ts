import {
  __Directive,
  __Field,
  __Schema,
  __Type,
  getNullableType,
  isListType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { assertLimit } from './limits';

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The fragments of a document by name; of two with the same name the last, as in graphql-js. */
export const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  new Map(
    definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );

/**
 * The fields of a selection set and of its fragments, each fragment once.
 * @param visited the names of the fragments visited so far
 * @param isDeep whether to include the fields within fields
 */
export function* fieldsIn(
  { selections }: SelectionSetNode,
  fragments: Fragments,
  visited = new Set<string>(),
  isDeep = false,
): Generator<FieldNode> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) yield selection;
    if (selection.kind === Kind.INLINE_FRAGMENT || (isDeep && selection.kind === Kind.FIELD)) {
      if (selection.selectionSet) yield* fieldsIn(selection.selectionSet, fragments, visited, isDeep);
    } else if (selection.kind === Kind.FRAGMENT_SPREAD && !visited.has(selection.name.value)) {
      visited.add(selection.name.value);
      const fragment = fragments.get(selection.name.value);
      if (fragment) yield* fieldsIn(fragment.selectionSet, fragments, visited, isDeep);
    }
  }
}

/** The size of a selection set, counting a fragment as often as it is spread. */
interface Size {
  /** Fields, inline fragments and spreads. */
  selections: number;
  aliases: number;
  /** Nested lists of introspection. */
  lists: number;
  nesting: number;
}

const NOTHING: Size = { selections: 0, aliases: 0, lists: 0, nesting: 0 };

/** Introspection fields whose type is a list. */
const LIST_FIELDS: ReadonlySet<string> = new Set(
  [__Schema, __Type, __Field, __Directive]
    .flatMap((type) => Object.values(type.getFields()))
    .filter(({ type }) => isListType(getNullableType(type)))
    .map(({ name }) => name),
);

/** Measures selection sets, visiting every fragment once. */
export class SelectionSizes {
  readonly #known = new Map<string, Size>();

  constructor(private readonly fragments: Fragments) {}

  /**
   * @param level number of selection sets around this one
   * @throws LimitExceeded when selection sets are nested too deep, which includes fragment cycles
   */
  of(set: SelectionSetNode, level = 1): Size {
    assertLimit('nesting', level);
    const size = { ...NOTHING };
    for (const selection of set.selections) {
      const inner = this.#within(selection, level);
      const field = selection.kind === Kind.FIELD ? selection : undefined;
      size.selections += 1 + inner.selections;
      size.aliases += (field?.alias ? 1 : 0) + inner.aliases;
      size.lists = Math.max(size.lists, (LIST_FIELDS.has(field?.name.value ?? '') ? 1 : 0) + inner.lists);
      size.nesting = Math.max(size.nesting, inner.nesting);
    }
    size.nesting += 1;
    return size;
  }

  #within(selection: SelectionNode, level: number): Size {
    if (selection.kind !== Kind.FRAGMENT_SPREAD)
      return selection.selectionSet ? this.of(selection.selectionSet, level + 1) : NOTHING;
    const name = selection.name.value;
    const fragment = this.fragments.get(name);
    if (!fragment) return NOTHING;
    const size = this.#known.get(name) ?? this.of(fragment.selectionSet, level + 1);
    this.#known.set(name, size);
    assertLimit('nesting', level + size.nesting);
    return size;
  }
}
