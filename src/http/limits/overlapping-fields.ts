import type { FieldNode, SelectionSetNode } from 'graphql';
import { assertLimit } from './limits';
import { fieldsIn, type Fragments } from './selection-size';

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
    for (const field of sets.flatMap((set) => [...fieldsIn(set, this.fragments, spread)])) {
      const name = (field.alias ?? field.name).value;
      const group = groups.get(name);
      if (group) group.push(field);
      else groups.set(name, [field]);
    }
    this.#addPairs(spread.size);
    for (const group of groups.values()) this.#compare(group);
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
