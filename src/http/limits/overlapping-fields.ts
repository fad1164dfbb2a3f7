import type { FieldNode, SelectionSetNode } from 'graphql';
import { assertLimit } from './limits';
import { fieldsIn, type Fragments } from './selection-size';

/**
 * Counts the pairs that the validation rule OverlappingFieldsCanBeMerged compares: fields with the same response name
 * in one selection set and its fragments, these fragments, and then the fields in the merged selection sets below.
 */
export class OverlappingFields {
  #pairs = 0;
  readonly #ids = new Map<FieldNode, number>();
  /** Groups of fields that have been counted. A group counts once, because the rule caches compared fragments. */
  readonly #visited = new Set<string>();

  constructor(private readonly fragments: Fragments) {}

  /** Adds the pairs in selection sets that are merged. Throws a LimitExceededError as soon as there are too many. */
  add(...sets: SelectionSetNode[]): void {
    const spread = new Set<string>();
    const fields = sets.flatMap((set) => [...fieldsIn(set, this.fragments, spread)]);
    this.#addPairs(spread.size);
    for (const group of Map.groupBy(fields, ({ alias, name }) => (alias ?? name).value).values())
      this.#addGroup(group);
  }

  #addGroup(group: readonly FieldNode[]): void {
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
