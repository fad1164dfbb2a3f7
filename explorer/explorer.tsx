import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { GraphiQL } from 'graphiql';
import { useMemo, useState } from 'react';
import { FACTS } from './facts';
import { gatewayFetcher } from './fetcher';
import { KnownIds } from './known-ids';
import { ready, READY_PLUGIN } from './ready-panel';
import { createStorage } from './storage';

const ids = new KnownIds();
const storage = createStorage(localStorage);
const tabs = ready().tour.map(({ query, variables }) => ({
  query,
  variables: JSON.stringify(variables, null, 2),
}));

/** The page: a line about where one is, and GraphiQL with everything ready in it. */
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
        {FACTS.credentials && <Credentials onChange={setCredentials} />}
      </header>
      <main>
        <GraphiQL
          fetcher={fetcher}
          storage={storage}
          defaultTabs={tabs}
          initialVariables={tabs[0]?.variables}
          plugins={[READY_PLUGIN, HISTORY_PLUGIN]}
          visiblePlugin={READY_PLUGIN}
          defaultEditorToolsVisibility="variables"
          shouldPersistHeaders={false}
          showPersistHeadersSettings={false}
          inputValueDeprecation
          schemaDescription
        >
          <GraphiQL.Logo>{null}</GraphiQL.Logo>
        </GraphiQL>
      </main>
    </>
  );
}

const Service = () =>
  FACTS.sandbox ? (
    <p className="service sandbox">Embedded sandbox: no real money</p>
  ) : (
    <p className="service real">Real service: what is run here moves money</p>
  );

/** Asks for a key or a token; it is kept in memory alone, and goes with every request and every socket. */
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
