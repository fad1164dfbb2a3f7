import { Kind, OperationTypeNode, type FieldNode, type FragmentDefinitionNode } from 'graphql';
import type { OperationDefinitionNode, SelectionSetNode } from 'graphql';
import { assertLimit } from './limits';
import type { DocumentSizes } from './selection-size';

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The root fields as written, out of all fragments; a fragment counts once, as it does when it is carried out. */
function* rootFields(
  { selections }: SelectionSetNode,
  fragments: Fragments,
  spread = new Set<string>(),
): Generator<FieldNode> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) yield selection;
    else if (selection.kind === Kind.INLINE_FRAGMENT)
      yield* rootFields(selection.selectionSet, fragments, spread);
    else if (!spread.has(selection.name.value)) {
      spread.add(selection.name.value);
      const fragment = fragments.get(selection.name.value);
      if (fragment) yield* rootFields(fragment.selectionSet, fragments, spread);
    }
  }
}

const isIntrospection = ({ name }: FieldNode): boolean =>
  name.value === '__schema' || name.value === '__type';

/**
 * The limits on what one operation asks for at its root.
 * @throws LimitExceeded
 */
export function checkOperation(
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
  sizes: DocumentSizes,
): void {
  const fields = [...rootFields(selectionSet, fragments)];
  // Components may each select of the same lookup: that is one call, under one response name.
  const calls = new Set(fields.map(({ alias, name }) => `${(alias ?? name).value} ${name.value}`));
  assertLimit('rootFields', calls.size);
  if (operation === OperationTypeNode.MUTATION) {
    // As written: how often money moves is not left to how fields are merged.
    assertLimit('mutations', fields.filter(({ name }) => name.value !== '__typename').length);
  }
  const introspections = fields.filter(isIntrospection);
  assertLimit('introspections', introspections.length);
  const sets = introspections.flatMap((field) => field.selectionSet ?? []);
  const introspected = sizes.of({
    kind: Kind.SELECTION_SET,
    selections: sets.flatMap((set) => set.selections),
  });
  assertLimit('introspected', introspected.selections);
  assertLimit('introspectionAliases', introspected.aliases);
  assertLimit('introspectionLists', introspected.lists);
}
