import {
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type InlineFragmentNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Fragments } from '../limits/selection-size';

/** Completes a resolved value: converts it to response data. Throws the FallbackError if only graphql-js can do so. */
export type ValueCompleter = (value: unknown) => unknown;

/**
 * Thrown if only graphql-js can execute the operation. Either the operation cannot be compiled, or the resolver's
 * result contains, for example, a promise or an error. One instance is enough, because nothing reads its stack.
 */
export class FallbackError extends Error {
  static readonly INSTANCE = new FallbackError();
}

/** Throws the FallbackError. Ignores a rejection of `resolvedValue`, if it is a promise: it would end the process. */
export function throwFallback(resolvedValue?: unknown): never {
  if (resolvedValue instanceof Promise) resolvedValue.catch(() => undefined);
  throw FallbackError.INSTANCE;
}

/** Whether a resolved value is a promise, a function or an error, which only graphql-js can handle. */
const needsGraphqlJs = (value: unknown): boolean =>
  typeof value === 'function' ||
  value instanceof Error ||
  (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function');

/**
 * Maximum number of fields in a compiled operation. A field is counted for each object type for which it is compiled. A
 * query for all fields of all payment types has about 300 fields.
 */
const MAX_COMPILED_FIELDS = 1000;

/** Compiles the selections of one operation to functions that complete resolved values. */
export class SelectionCompiler {
  #fieldCount = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: Fragments,
  ) {}

  /**
   * Collects the fields that selection sets select on an object type. Map keys are response names, in response order.
   * Throws a FallbackError for a directive, the name `__proto__`, or too many fields (MAX_COMPILED_FIELDS).
   */
  selectedFields(
    type: GraphQLObjectType,
    selectionSets: readonly SelectionSetNode[],
  ): ReadonlyMap<string, FieldNode[]> {
    const nodesByResponseName = new Map<string, FieldNode[]>();
    const spreadNames = new Set<string>();
    const addSelection = (selection: SelectionNode): void => {
      if (selection.directives?.length) throwFallback();
      if (selection.kind === Kind.FIELD) {
        const responseName = (selection.alias ?? selection.name).value;
        this.#fieldCount += 1;
        if (this.#fieldCount > MAX_COMPILED_FIELDS || responseName === '__proto__') throwFallback();
        nodesByResponseName.set(responseName, [...(nodesByResponseName.get(responseName) ?? []), selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        addFragment(selection);
      } else if (!spreadNames.has(selection.name.value)) {
        spreadNames.add(selection.name.value);
        const fragment = this.fragments.get(selection.name.value);
        if (fragment) addFragment(fragment);
      }
    };
    const addFragment = (fragment: InlineFragmentNode | FragmentDefinitionNode): void => {
      const { typeCondition, selectionSet } = fragment;
      const conditionType = typeCondition ? this.schema.getType(typeCondition.name.value) : type;
      if (
        conditionType === type ||
        (isAbstractType(conditionType) && this.schema.isSubType(conditionType, type))
      )
        selectionSet.selections.forEach(addSelection);
    };
    selectionSets.forEach(({ selections }) => selections.forEach(addSelection));
    return nodesByResponseName;
  }

  /** Returns a function that completes a field's values. `fieldNodes`: the selections of the field, of type `type`. */
  completerFor(type: GraphQLOutputType, fieldNodes: readonly FieldNode[]): ValueCompleter {
    const completeNonNull = this.#nonNullCompleter(getNullableType(type), fieldNodes);
    const isNonNull = isNonNullType(type);
    return (value) => {
      if (value === null || value === undefined) return isNonNull ? throwFallback() : null;
      return needsGraphqlJs(value) ? throwFallback(value) : completeNonNull(value);
    };
  }

  #nonNullCompleter(type: GraphQLOutputType, fieldNodes: readonly FieldNode[]): ValueCompleter {
    if (isLeafType(type)) return (value) => type.serialize(value) ?? throwFallback();
    if (isListType(type)) {
      const completeItem = this.completerFor(type.ofType, fieldNodes);
      return (value) => (Array.isArray(value) ? value.map(completeItem) : throwFallback());
    }
    const selectionSets = fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return isAbstractType(type)
      ? this.#abstractCompleter(type, selectionSets)
      : this.#objectCompleter(type as GraphQLObjectType, selectionSets);
  }

  /**
   * Returns a function that completes values of an interface or union. `resolveType` returns the class name of a value,
   * which is the name of its GraphQL type.
   */
  #abstractCompleter(type: GraphQLAbstractType, selectionSets: readonly SelectionSetNode[]): ValueCompleter {
    const completerByTypeName = new Map<string, ValueCompleter>();
    const { resolveType } = type;
    return (value) => {
      const typeName = resolveType?.(value, undefined, undefined as never, type);
      if (typeof typeName !== 'string') return throwFallback();
      let completeObject = completerByTypeName.get(typeName);
      if (!completeObject) {
        const objectType = this.schema.getPossibleTypes(type).find(({ name }) => name === typeName);
        completeObject = objectType ? this.#objectCompleter(objectType, selectionSets) : throwFallback;
        completerByTypeName.set(typeName, completeObject);
      }
      return completeObject(value);
    };
  }

  #objectCompleter(
    objectType: GraphQLObjectType,
    selectionSets: readonly SelectionSetNode[],
  ): ValueCompleter {
    const fieldDefinitions = objectType.getFields();
    const fieldCompleters = [...this.selectedFields(objectType, selectionSets)].map(([key, nodes]) => {
      const name = nodes[0]?.name.value ?? '';
      if (name === '__typename') return { key, name, complete: () => objectType.name };
      const definition = fieldDefinitions[name];
      if (!definition || definition.resolve || definition.args.length > 0) return throwFallback();
      return { key, name, complete: this.completerFor(definition.type, nodes) };
    });
    if (objectType.isTypeOf) throwFallback();
    return (value) => {
      if (typeof value !== 'object') throwFallback();
      const responseObject: Record<string, unknown> = {};
      for (const { key, name, complete } of fieldCompleters)
        responseObject[key] = complete((value as Record<string, unknown>)[name]);
      return responseObject;
    };
  }
}
