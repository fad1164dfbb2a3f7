import { DOC_EXPLORER_PLUGIN, useDocExplorerActions } from '@graphiql/plugin-doc-explorer';
import { useGraphiQL, useGraphiQLActions, type GraphiQLPlugin } from '@graphiql/react';
import { AMOUNT_RULES, createExamples, type Example, type MethodExamples } from './operations';
import { isNarrow, PAGE_CONFIG } from './page';

/** Channel id in the examples. In the sandbox every channel exists; for a real service the user enters the id. */
const CHANNEL = PAGE_CONFIG.sandbox ? '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10' : 'the UUID of your channel';

/** Returns a unique text. Avoids crypto.randomUUID(), which exists only on HTTPS pages and on localhost. */
const uniqueText = (): string => {
  const numbers = crypto.getRandomValues(new Uint32Array(2));
  return `explorer-${Array.from(numbers, (number) => number.toString(36)).join('-')}`;
};

const externalId = uniqueText();

/** Returns the examples, with new idempotency keys on each call. */
export const currentExamples = () => createExamples({ channel: CHANNEL, externalId, uniqueText });

/** Returns a function that opens an example in a new tab, with new idempotency keys. */
function useOpenExample(): (name: string) => void {
  const { addTab, updateActiveTabValues, setVisiblePlugin } = useGraphiQLActions();
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  return (name) => {
    const { tour, more, payments, payouts } = currentExamples();
    const all = [...tour, ...more, ...[...payments, ...payouts].flatMap(({ operations }) => operations)];
    const operation = all.find((each) => each.name === name);
    if (!operation) return;
    const { query } = operation;
    const variables = JSON.stringify(operation.variables, null, 2);
    addTab();
    updateActiveTabValues({ query, variables, operationName: name });
    queryEditor?.setValue(query);
    variableEditor?.setValue(variables);
    // On narrow pages close the panel, because it covers the editor.
    if (isNarrow()) setVisiblePlugin(null);
  };
}

function ExampleButton({ name, title }: Example) {
  const open = useOpenExample();
  return (
    <button type="button" className="open" title={`Opens ${name} in a new tab`} onClick={() => open(name)}>
      {title}
    </button>
  );
}

function DocsButton({ type }: { type: string }) {
  const schema = useGraphiQL((state) => state.schema);
  const { setVisiblePlugin } = useGraphiQLActions();
  const { push } = useDocExplorerActions();
  const def = schema?.getType(type);
  if (!def) return null;
  return (
    <button
      type="button"
      className="docs"
      title={`Documentation of ${type}`}
      onClick={() => {
        push({ name: type, def });
        setVisiblePlugin(DOC_EXPLORER_PLUGIN);
        // Scroll to the top, because the pane keeps the scroll position of the examples.
        document.querySelector('.graphiql-plugin')?.scrollTo(0, 0);
      }}
    >
      docs
    </button>
  );
}

const Methods = ({ title, methods }: { title: string; methods: MethodExamples[] }) => (
  <section>
    <h3>{title}</h3>
    <ul className="methods">
      {methods.map(({ type, about, operations }) => (
        <li key={type}>
          <span className="about">{about.replace(/\..*$/, '')}</span>
          <span className="ways">
            {operations.map((operation) => (
              <ExampleButton key={operation.name} {...operation} />
            ))}
            <DocsButton type={type} />
          </span>
        </li>
      ))}
    </ul>
  </section>
);

const AmountRules = () => (
  <section>
    <h3>The cents choose the outcome</h3>
    <p>Of payments and payouts in the sandbox; more cents: docs/sandbox.md. A payout is never mispaid.</p>
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

function ExamplesPanel() {
  const { tour, more, payments, payouts } = currentExamples();
  return (
    <div className="ready">
      <h2>Ready to run</h2>
      <p>
        Run the tabs from left to right. The examples below open in new tabs, with new idempotency keys.{' '}
        <code>{'{{payment}}'}</code> is the id of the newest payment.
      </p>
      <ul className="tour">
        {[...tour, ...more].map((operation) => (
          <li key={operation.name}>
            <ExampleButton {...operation} />
          </li>
        ))}
      </ul>
      {PAGE_CONFIG.sandbox && <AmountRules />}
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

export const EXAMPLES_PLUGIN: GraphiQLPlugin = {
  title: 'Ready operations',
  icon: Icon,
  content: ExamplesPanel,
};
