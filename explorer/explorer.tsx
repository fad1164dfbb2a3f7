import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { useGraphiQL } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { useEffect, useMemo, useState } from 'react';
import { gatewayFetcher } from './fetcher';
import { KnownIds } from './known-ids';
import { currentExamples, EXAMPLES_PLUGIN } from './examples-panel';
import { isNarrow, PAGE_CONFIG } from './page';
import { createStorage } from './storage';

const ids = new KnownIds();
const storage = createStorage(localStorage);
const tabs = currentExamples().tour.map(({ query, variables }) => ({
  query,
  variables: JSON.stringify(variables, null, 2),
}));

/** The whole page: a header, and GraphiQL with the panel of examples. */
export function Explorer() {
  const [credentials, setCredentials] = useState('');
  const fetcher = useMemo(() => gatewayFetcher(credentials, ids), [credentials]);
  return (
    <>
      <header className="top">
        <h1>
          paygraph <span>explorer</span>
        </h1>
        <Service />
        {PAGE_CONFIG.credentials && <Credentials onChange={setCredentials} />}
      </header>
      <main>
        <GraphiQL
          fetcher={fetcher}
          storage={storage}
          defaultTabs={tabs}
          initialVariables={tabs[0]?.variables}
          plugins={[EXAMPLES_PLUGIN, HISTORY_PLUGIN]}
          visiblePlugin={isNarrow() ? undefined : EXAMPLES_PLUGIN}
          defaultEditorToolsVisibility={isNarrow() ? false : 'variables'}
          shouldPersistHeaders={false}
          showPersistHeadersSettings={false}
          inputValueDeprecation
          schemaDescription
        >
          <GraphiQL.Logo>
            <ScrollToActiveTab />
          </GraphiQL.Logo>
        </GraphiQL>
      </main>
    </>
  );
}

function ScrollToActiveTab() {
  const activeTab = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.id);
  useEffect(() => {
    document.querySelector('.graphiql-tab-active')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [activeTab]);
  return null;
}

const Service = () =>
  PAGE_CONFIG.sandbox ? (
    <p className="service sandbox">Embedded sandbox: no real money</p>
  ) : (
    <p className="service real">Real service: what is run here moves money</p>
  );

/** Form for a key or token, which stays in memory. Every tab without an Authorization header of its own sends it. */
function Credentials({ onChange }: { onChange(credentials: string): void }) {
  const [typed, setTyped] = useState('');
  return (
    <form
      className="credentials"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(typed.trim());
      }}
    >
      <label htmlFor="credentials">Key or token</label>
      <input
        id="credentials"
        type="password"
        autoComplete="off"
        spellCheck={false}
        placeholder="for every tab; kept until you leave"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <button>Use</button>
    </form>
  );
}
