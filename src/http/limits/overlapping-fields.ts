import { Kind, type FieldNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql';
import { assertLimit } from './limits';

/**
 * Counts the pairs of fields that validation has to compare because they have the same place in the answer. As
 * OverlappingFieldsCanBeMerged does it: all that is selected at one place is one set, fragments included; fields with
 * the same response name are compared each with each, and what they select is the set one place further down.
 */
export class Overlaps {
  private pairs = 0;
  private readonly ids = new Map<FieldNode, number>();
  /** Fields that were met together before: the rule remembers fragments that it has compared, and so do we. */
  private readonly met = new Set<string>();

  constructor(private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>) {}

  /** How many pairs were found so far. */
  get count(): number {
    return this.pairs;
  }

  /**
   * Adds the pairs of one operation or fragment.
   * @throws LimitExceeded as soon as there are too many
   */
  add(...sets: SelectionSetNode[]): void {
    const fields = new Map<string, FieldNode[]>();
    const spread = new Set<string>();
    for (const set of sets) this.collect(set, fields, spread);
    this.addPairs(spread.size);
    for (const together of fields.values()) this.compare(together);
  }

  private collect(set: SelectionSetNode, fields: Map<string, FieldNode[]>, spread: Set<string>): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        const together = fields.get(name);
        if (together) together.push(selection);
        else fields.set(name, [selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        this.collect(selection.selectionSet, fields, spread);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = this.fragments.get(selection.name.value);
        if (fragment) this.collect(fragment.selectionSet, fields, spread);
      }
    }
  }

  private compare(together: readonly FieldNode[]): void {
    const sets = together.flatMap(({ selectionSet }) => selectionSet ?? []);
    if (together.length === 1 && sets.length === 0) return;
    const key = together.map((field) => this.idOf(field)).join();
    if (this.met.has(key)) return;
    this.met.add(key);
    this.addPairs(together.length);
    if (sets.length > 0) this.add(...sets);
  }

  private addPairs(things: number): void {
    this.pairs += (things * (things - 1)) / 2;
    assertLimit('comparisons', this.pairs);
  }

  private idOf(field: FieldNode): number {
    const id = this.ids.get(field) ?? this.ids.size;
    this.ids.set(field, id);
    return id;
  }
}
