import { DOC_EXPLORER_PLUGIN, useDocExplorerActions } from '@graphiql/plugin-doc-explorer';
import { useGraphiQL, useGraphiQLActions, type GraphiQLPlugin } from '@graphiql/react';
import { FACTS } from './page-config';
import { isNarrow } from './narrow';
import {
  AMOUNT_RULES,
  readyOperations,
  type ReadyMethod,
  type ReadyOperation,
  type ReadyOperations,
} from './operations';

/** Any channel exists in the sandbox; a real one is for the user to say. */
const CHANNEL = FACTS.sandbox ? '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10' : 'the UUID of your channel';

/** Not randomUUID: a page that came over plain HTTP from another machine has none. */
const fresh = (): string => {
  const digits = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) =>
    byte.toString(16).padStart(2, '0'),
  );
  return `explorer-${digits.join('')}`;
};

const externalId = fresh();

/** The ready operations of this page, with new idempotency keys every time. */
export const ready = (): ReadyOperations => readyOperations({ channel: CHANNEL, externalId, fresh });

/** Finds an operation again, with keys that have not been used. */
const again = (name: string): ReadyOperation | undefined => {
  const { tour, more, payments, payouts } = ready();
  const all = [...tour, ...more, ...[...payments, ...payouts].flatMap(({ operations }) => operations)];
  return all.find((operation) => operation.name === name);
};

/** Opens a ready operation in a tab of its own. */
function useOpen(): (name: string) => void {
  const { addTab, updateActiveTabValues, setVisiblePlugin } = useGraphiQLActions();
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  return (name) => {
    const operation = again(name);
    if (!operation) return;
    const { query } = operation;
    const variables = JSON.stringify(operation.variables, null, 2);
    addTab();
    updateActiveTabValues({ query, variables, operationName: name });
    queryEditor?.setValue(query);
    variableEditor?.setValue(variables);
    // There the panel covers the operation.
    if (isNarrow()) setVisiblePlugin(null);
  };
}

function Operation({ name, title }: ReadyOperation) {
  const open = useOpen();
  return (
    <button type="button" className="open" title={`Opens ${name} in a new tab`} onClick={() => open(name)}>
      {title}
    </button>
  );
}

/** Opens the documentation of a type. */
function Docs({ type }: { type: string }) {
  const schema = useGraphiQL((state) => state.schema);
  const { setVisiblePlugin } = useGraphiQLActions();
  const { push } = useDocExplorerActions();
  const def = schema?.getType(type);
  if (!def) return null;
  return (
    <button
      type="button"
      className="docs"
      title={`What ${type} says`}
      onClick={() => {
        push({ name: type, def });
        setVisiblePlugin(DOC_EXPLORER_PLUGIN);
        // The pane stays as far down as the list was.
        document.querySelector('.graphiql-plugin')?.scrollTo(0, 0);
      }}
    >
      docs
    </button>
  );
}

const Methods = ({ title, methods }: { title: string; methods: ReadyMethod[] }) => (
  <section>
    <h3>{title}</h3>
    <ul className="methods">
      {methods.map(({ type, about, operations }) => (
        <li key={type}>
          <span className="about">{about.replace(/\..*$/, '')}</span>
          <span className="ways">
            {operations.map((operation) => (
              <Operation key={operation.name} {...operation} />
            ))}
            <Docs type={type} />
          </span>
        </li>
      ))}
    </ul>
  </section>
);

const AmountRules = () => (
  <section>
    <h3>The cents choose the outcome</h3>
    <p>Of payments and payouts in the sandbox; any other cents succeed. A payout is never mispaid.</p>
    <table>
      <tbody>
        {AMOUNT_RULES.map(([cents, outcome]) => (
          <tr key={cents}>
            <th scope="row">.{cents}</th>
            <td>{outcome}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

function ReadyPanel() {
  const { tour, more, payments, payouts } = ready();
  return (
    <div className="ready">
      <h2>Ready to run</h2>
      <p>
        The tabs lead through the gateway, from left to right. Here everything opens again, with keys that
        were never used. <code>{'{{payment}}'}</code> is the id of the newest one.
      </p>
      <ul className="tour">
        {[...tour, ...more].map((operation) => (
          <li key={operation.name}>
            <Operation {...operation} />
          </li>
        ))}
      </ul>
      {FACTS.sandbox && <AmountRules />}
      <Methods title="Payments, by method" methods={payments} />
      <Methods title="Payouts, by method" methods={payouts} />
    </div>
  );
}

const Icon = () => (
  <svg viewBox="0 0 24 24" width="1em" height="1em" fill="none" stroke="currentColor" strokeWidth="1.6">
    <path d="M5 4h14v16H5zM9 9l5 3-5 3z" strokeLinejoin="round" />
  </svg>
);

export const READY_PLUGIN: GraphiQLPlugin = { title: 'Ready operations', icon: Icon, content: ReadyPanel };
