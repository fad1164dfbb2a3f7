import { Kind, type FieldNode, type SelectionSetNode } from 'graphql';
import { assertLimit } from './limits';
import type { Fragments } from './selection-size';

/**
 * Counts the pairs of fields that the validation rule OverlappingFieldsCanBeMerged compares: fields with the same response
 * name in one selection set, fragments included, and then the fields in their merged selection sets.
 */
export class OverlappingFields {
  #pairs = 0;
  readonly #ids = new Map<FieldNode, number>();
  /** Groups of fields that were counted before: the rule caches the fragments that it has compared. */
  readonly #visited = new Set<string>();

  constructor(private readonly fragments: Fragments) {}

  /**
   * Adds the pairs of an operation or fragment.
   * @throws LimitExceeded as soon as there are too many
   */
  add(...sets: SelectionSetNode[]): void {
    const groups = new Map<string, FieldNode[]>();
    const spread = new Set<string>();
    for (const set of sets) this.#collect(set, groups, spread);
    this.#addPairs(spread.size);
    for (const group of groups.values()) this.#compare(group);
  }

  #collect({ selections }: SelectionSetNode, groups: Map<string, FieldNode[]>, spread: Set<string>): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        const group = groups.get(name);
        if (group) group.push(selection);
        else groups.set(name, [selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        this.#collect(selection.selectionSet, groups, spread);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = this.fragments.get(selection.name.value);
        if (fragment) this.#collect(fragment.selectionSet, groups, spread);
      }
    }
  }

  #compare(group: readonly FieldNode[]): void {
    const sets = group.flatMap(({ selectionSet }) => selectionSet ?? []);
    if (group.length === 1 && sets.length === 0) return;
    const key = group.map((field) => this.#idOf(field)).join();
    if (this.#visited.has(key)) return;
    this.#visited.add(key);
    this.#addPairs(group.length);
    if (sets.length > 0) this.add(...sets);
  }

  #addPairs(count: number): void {
    this.#pairs += (count * (count - 1)) / 2;
    assertLimit('comparisons', this.#pairs);
  }

  #idOf(field: FieldNode): number {
    const id = this.#ids.get(field) ?? this.#ids.size;
    this.#ids.set(field, id);
    return id;
  }
}
