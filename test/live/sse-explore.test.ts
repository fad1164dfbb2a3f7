import { EventStream } from './support/event-stream';
import { liveRig, watching } from './support/live-rig';
import { bearer, clientOf, keyOf, OURS, THEIRS } from '../access/support/rig';
import { AUTHORIZED } from '../support/credentials';
import { randomUUID } from 'node:crypto';
test('x', async () => {
  const rig = await liveRig({ clients: [clientOf('payouts', { scopes: ['payouts:read'], channels: [OURS] })] });
  const q = watching();
  const deep = 'subscription { paymentUpdated(channel:"'+OURS+'", transactionId:"'+randomUUID()+'") { ' + Array(20).fill('... on PaymentResource {').join(' ') + ' status ' + '}'.repeat(20) + '}}';
  const bodies: Record<string, [string, Record<string,string>?]> = {
    syntax: [JSON.stringify({ query: 'subscription {' })],
    unknownField: [JSON.stringify({ query: 'subscription { nope }' })],
    noQuery: [JSON.stringify({})],
    queryNumber: [JSON.stringify({query: 5})],
    emptyQuery: [JSON.stringify({query: ''})],
    unknownOp: [JSON.stringify({ ...q, operationName: 'Other' })],
    opNumber: [JSON.stringify({ ...q, operationName: 5 })],
    twoOps: [JSON.stringify({ ...q, query: q.query + ' ' + q.query.replace('Watch', 'B') })],
    missingVars: [JSON.stringify({ query: q.query })],
    badVar: [JSON.stringify({ ...q, variables: { c: 'x', t: 5 } })],
    varsString: [JSON.stringify({ ...q, variables: 'x' })],
    varsArray: [JSON.stringify({ ...q, variables: [] })],
    extString: [JSON.stringify({ ...q, extensions: 'x' })],
    extArray: [JSON.stringify({ ...q, extensions: [] })],
    deep: [JSON.stringify({ query: deep })],
    card: [JSON.stringify({ query: 'subscription { paymentUpdated(channel: "4111111111111111") { __typename } }' })],
    persisted: [JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } })],
    documentId: [JSON.stringify({ documentId: 'abc' })],
    scope: [JSON.stringify(q), bearer(keyOf('payouts'))],
    channel: [JSON.stringify(watching(randomUUID(), 'payout', THEIRS)), bearer(keyOf('payouts'))],
    notJson: ['{'], array: ['[]'], nul: ['null'], str: ['"x"'], empty: [''],
    text: [JSON.stringify(q), { 'content-type': 'text/plain' }],
    form: ['query=x', { 'content-type': 'application/x-www-form-urlencoded' }],
    multipart: ['x', { 'content-type': 'multipart/form-data; boundary=x' }],
    noType: [JSON.stringify(q), { 'content-type': '' }],
    large: [JSON.stringify({ ...q, extra: 'x'.repeat(200000) })],
    accept: [JSON.stringify(q), { accept: 'application/json' }],
    acceptNo: [JSON.stringify(q), { accept: '' }],
    acceptText: [JSON.stringify(q), { accept: 'text/*' }],
    acceptQ0: [JSON.stringify(q), { accept: 'text/event-stream;q=0, application/json' }],
    acceptHtml: [JSON.stringify(q), { accept: 'text/html' }],
    acceptUpper: [JSON.stringify(q), { accept: 'TEXT/EVENT-STREAM' }],
    wrongKey: [JSON.stringify(q), bearer('pgk_wrong')],
    basic: [JSON.stringify(q), { authorization: 'Basic abc' }],
    introspect: [JSON.stringify({ query: 'subscription { __typename }' })],
    introspect2: [JSON.stringify({ query: 'subscription { __schema { queryType { name } } }' })],
    twoFields: [JSON.stringify({ query: 'subscription ($c: UUID!, $t: UUID!) { a: paymentUpdated(channel: $c, transactionId: $t) { __typename } b: paymentUpdated(channel: $c, transactionId: $t) { __typename } }', variables: q.variables })],
    skip: [JSON.stringify({ query: 'subscription ($c: UUID!, $t: UUID!) { a: paymentUpdated(channel: $c, transactionId: $t) @skip(if: true) { __typename } }', variables: q.variables })],
    defer: [JSON.stringify({ query: 'subscription ($c: UUID!, $t: UUID!) { a: paymentUpdated(channel: $c, transactionId: $t) { ... @defer { __typename } } }', variables: q.variables })],
    query: [JSON.stringify({ query: '{ __typename }' })],
    mutation: [JSON.stringify({ query: 'mutation { __typename }' })],
    notUuid: [JSON.stringify({ query: 'subscription { paymentUpdated(channel: "x", transactionId: "y") { __typename } }' })],
  };
  const out: string[] = [];
  for (const [name, [body, headers]] of Object.entries(bodies)) {
    const ask = async (url: string, accept: string) => {
      const control = new AbortController();
      const r = await fetch(url, { method: 'POST', body, signal: control.signal, headers: { accept, 'content-type': 'application/json', ...AUTHORIZED, ...headers } });
      let text = '';
      const dec = new TextDecoder();
      const timer = setTimeout(() => control.abort(), 700);
      try { for await (const chunk of r.body!) text += dec.decode(chunk as Uint8Array); } catch { text += ' <open>'; }
      clearTimeout(timer);
      return `${r.status} ${r.headers.get('content-type')} ${r.headers.get('x-request-id')?.slice(0,8)} ${text}`;
    };
    out.push(`${name}\n   P ${await ask(rig.client.url, 'application/json')}\n   S ${await ask(rig.client.url + '/stream', 'text/event-stream')}`.replaceAll('\n\n', '⏎'));
  }
  for (const tail of ['query=' + encodeURIComponent(q.query) + '&variables=%7B', 'query=' + encodeURIComponent(q.query) + '&variables=' + encodeURIComponent(JSON.stringify(q.variables)) + '&extensions=%7B', 'query=' + encodeURIComponent(q.query) + '&variables=5','query=' + encodeURIComponent(q.query) + '&variables=null', 'query=' + encodeURIComponent('mutation { __typename }'), 'query=%zz', 'query=a&query=b', '']) {
    for (const base of ['', '/stream']) {
      const control = new AbortController();
      const r = await fetch(rig.client.url + base + '?' + tail, { signal: control.signal, headers: { accept: base ? 'text/event-stream' : 'application/json', 'apollo-require-preflight': '1', ...AUTHORIZED } });
      let text = ''; const dec = new TextDecoder(); const timer = setTimeout(() => control.abort(), 700);
      try { for await (const chunk of r.body!) text += dec.decode(chunk as Uint8Array); } catch { text += ' <open>'; }
      clearTimeout(timer);
      out.push(`GET ${base} ${tail.slice(0,12)}..${tail.slice(-25)}: ${r.status} ${text.replaceAll('\n', '⏎')}`);
    }
  }
  require('fs').writeFileSync('/tmp/t3-explore.txt', out.join('\n'));
});
