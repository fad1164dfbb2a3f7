import {
  __Directive,
  __Field,
  __Schema,
  __Type,
  getNullableType,
  isListType,
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { assertLimit, LimitExceeded } from './limits';

/** How large a selection set is, with its fragments. */
export interface Size {
  /** Fields, inline fragments and spreads; those of a fragment as often as it is spread. */
  selections: number;
  /** Aliases; those of a fragment as often as it is spread. */
  aliases: number;
  /** Fields, one within another. */
  depth: number;
  /** Lists of introspection, one within another. */
  lists: number;
  /** Selection sets, one within another. */
  nesting: number;
}

const NOTHING: Size = { selections: 0, aliases: 0, depth: 0, lists: 0, nesting: 0 };

/** The fields of introspection that answer with a list. */
const LISTS: ReadonlySet<string> = new Set(
  [__Schema, __Type, __Field, __Directive].flatMap((type) =>
    Object.values(type.getFields()).flatMap((field) =>
      isListType(getNullableType(field.type)) ? field.name : [],
    ),
  ),
);

/** The fragments of a document by name; of two with the same name the last, as graphql-js has it. */
export const fragmentsOf = ({ definitions }: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );

/** Measures selection sets, every fragment once however often it is spread. */
export class DocumentSizes {
  /** A fragment that is being measured has no size yet: met again, it is a cycle. */
  private readonly known = new Map<string, Size | null>();

  constructor(private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>) {}

  /**
   * @param level how many selection sets are around this one
   * @throws LimitExceeded where fragments go in circles, or selection sets too deep
   */
  of(set: SelectionSetNode, level = 1): Size {
    assertLimit('nesting', level);
    const size = { ...NOTHING };
    for (const selection of set.selections) {
      const inner = this.within(selection, level);
      const isField = selection.kind === Kind.FIELD;
      size.selections += 1 + inner.selections;
      size.aliases += (isField && selection.alias ? 1 : 0) + inner.aliases;
      size.depth = Math.max(size.depth, (isField ? 1 : 0) + inner.depth);
      size.lists = Math.max(size.lists, (isField && LISTS.has(selection.name.value) ? 1 : 0) + inner.lists);
      size.nesting = Math.max(size.nesting, inner.nesting);
    }
    size.nesting += 1;
    return size;
  }

  private within(selection: SelectionNode, level: number): Size {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.ofFragment(selection.name.value, level);
    return selection.selectionSet ? this.of(selection.selectionSet, level + 1) : NOTHING;
  }

  private ofFragment(name: string, level: number): Size {
    const fragment = this.fragments.get(name);
    if (!fragment) return NOTHING;
    let size = this.known.get(name);
    if (size === null) throw new LimitExceeded('cycles');
    if (!size) {
      this.known.set(name, null);
      size = this.of(fragment.selectionSet, level + 1);
      this.known.set(name, size);
    }
    assertLimit('nesting', level + size.nesting);
    return size;
  }
}
