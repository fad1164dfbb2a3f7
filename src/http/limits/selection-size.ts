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
import { assertWithinLimit } from './limits';

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Returns a document's fragments by name. Of several with the same name, returns the last, like graphql-js. */
export const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  new Map(
    definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );

/**
 * Yields the fields of a selection set and of its fragments. If `isDeep` is true, also yields nested fields. Yields the
 * fields of each named fragment only once: adds its name to `visitedNames`, and skips fragments whose names are
 * already there.
 */
export function* fieldsIn(
  { selections }: SelectionSetNode,
  fragments: Fragments,
  visitedNames = new Set<string>(),
  isDeep = false,
): Generator<FieldNode> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) yield selection;
    if (selection.kind === Kind.INLINE_FRAGMENT || (isDeep && selection.kind === Kind.FIELD)) {
      if (selection.selectionSet) yield* fieldsIn(selection.selectionSet, fragments, visitedNames, isDeep);
    } else if (selection.kind === Kind.FRAGMENT_SPREAD && !visitedNames.has(selection.name.value)) {
      visitedNames.add(selection.name.value);
      const fragment = fragments.get(selection.name.value);
      if (fragment) yield* fieldsIn(fragment.selectionSet, fragments, visitedNames, isDeep);
    }
  }
}

/** The size of a selection set. A fragment counts as often as it is spread. */
interface SelectionSize {
  /** Number of fields, inline fragments and fragment spreads, including nested ones. */
  selectionCount: number;
  aliasCount: number;
  /** Number of nesting levels of introspection fields that return lists (INTROSPECTION_LIST_FIELDS). */
  introspectionListDepth: number;
  /** Number of levels, including the selection set itself. A fragment counts as one level. */
  depth: number;
}

const EMPTY_SIZE: SelectionSize = { selectionCount: 0, aliasCount: 0, introspectionListDepth: 0, depth: 0 };

const INTROSPECTION_LIST_FIELDS: ReadonlySet<string> = new Set(
  [__Schema, __Type, __Field, __Directive]
    .flatMap((introspectionType) => Object.values(introspectionType.getFields()))
    .filter(({ type }) => isListType(getNullableType(type)))
    .map(({ name }) => name),
);

/** Computes the sizes of selection sets. Caches the sizes of fragments. */
export class SelectionSizeCalculator {
  readonly #sizeByFragmentName = new Map<string, SelectionSize>();

  constructor(private readonly fragments: Fragments) {}

  /** Returns the size of a selection set at `nestingLevel`. Throws a LimitExceededError if the nesting is too deep. */
  sizeOf(selectionSet: SelectionSetNode, nestingLevel = 1): SelectionSize {
    assertWithinLimit('nesting', nestingLevel);
    const size: SelectionSize = { ...EMPTY_SIZE, depth: 1 };
    for (const selection of selectionSet.selections) {
      const nestedSize = this.#nestedSizeOf(selection, nestingLevel);
      const { alias, name } = selection.kind === Kind.FIELD ? selection : {};
      size.selectionCount += 1 + nestedSize.selectionCount;
      size.aliasCount += nestedSize.aliasCount + (alias ? 1 : 0);
      size.introspectionListDepth = Math.max(
        size.introspectionListDepth,
        nestedSize.introspectionListDepth + (name && INTROSPECTION_LIST_FIELDS.has(name.value) ? 1 : 0),
      );
      size.depth = Math.max(size.depth, nestedSize.depth + 1);
    }
    return size;
  }

  #nestedSizeOf(selection: SelectionNode, nestingLevel: number): SelectionSize {
    if (selection.kind !== Kind.FRAGMENT_SPREAD)
      return selection.selectionSet ? this.sizeOf(selection.selectionSet, nestingLevel + 1) : EMPTY_SIZE;
    const name = selection.name.value;
    const fragment = this.fragments.get(name);
    if (!fragment) return EMPTY_SIZE;
    const fragmentSize =
      this.#sizeByFragmentName.get(name) ?? this.sizeOf(fragment.selectionSet, nestingLevel + 1);
    this.#sizeByFragmentName.set(name, fragmentSize);
    assertWithinLimit('nesting', nestingLevel + fragmentSize.depth);
    return fragmentSize;
  }
}
