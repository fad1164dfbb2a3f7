import { createHash } from 'node:crypto';
import { eachTest } from './fixtures/running';
import { direct, redirect } from './fixtures/requests';

const running = eachTest();

async function created(body: unknown): Promise<string> {
  return String((await running.createPayment(body)).body['transaction_id']);
}

const open = (id: string) => running.fetch(`pay/${id}`);
const choose = (id: string, choice: string) => running.fetch(`pay/${id}/${choice}`, { method: 'POST' });

test('the page shows merchant, amount and method, and three choices without a script', async () => {
  const id = await created(redirect('card', { external_id: 'order-9' }));
  const page = await open(id);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  for (const text of [
    '25.00 EUR',
    '6f1f36ee-52e4-4f9c-9cd5-0a6f4b21a0c5',
    'card',
    'order-9',
    'width=device-width',
  ]) {
    expect(page.text).toContain(text);
  }
  const actions = [...page.text.matchAll(/<form method="post" action="([^"]+)"/g)].map(
    ([, action]) => action,
  );
  expect(actions).toEqual([`${id}/pay`, `${id}/pay-less`, `${id}/decline`]);
  expect(page.text).not.toContain('<script');
});

test('opening the page makes a pending payment processing', async () => {
  const id = await created(redirect('card'));
  await open(id);
  expect((await running.payment(id)).body['status']).toBe('processing');
});

test.each([
  ['pay', 'completed', 'This payment is paid'],
  ['decline', 'failed', 'This payment was declined'],
  ['pay-less', 'mispaid', 'Another amount was paid'],
])(
  '%s makes it %s, sends the payer back, and the page says so from then on',
  async (choice, status, text) => {
    const return_url = 'https://shop.example/back?order=1&from=pay';
    const id = await created(redirect('card', { return_url }));
    const answer = await choose(id, choice);
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(return_url);
    expect((await running.payment(id)).body['status']).toBe(status);
    const page = await open(id);
    expect(page.text).toContain(`<h1>${text}</h1>`);
    expect(page.text).toContain('settled already');
    expect(page.text).toContain('href="https://shop.example/back?order=1&amp;from=pay"');
    expect(page.text).not.toContain('<form');
  },
);

test('paying less is shown with what was received, and declining with a reason', async () => {
  const less = await created(redirect('card', { value: '10.01' }));
  await choose(less, 'pay-less');
  expect((await running.payment(less)).body['amount']).toMatchObject({ received: '5.00' });
  const declined = await created(redirect('card'));
  await choose(declined, 'decline');
  expect((await running.payment(declined)).body['error']).toMatchObject({ code: 'DECLINED_GENERIC' });
});

test('without a return URL the payer comes to a page with the result', async () => {
  const id = await created(redirect('card'));
  const answer = await choose(id, 'pay');
  expect(answer.status).toBe(303);
  const target = new URL(answer.headers.get('location') ?? '', `${running.url}pay/${id}/pay`).href;
  expect(target).toBe(`${running.url}pay/${id}`);
});

test('a settled payment cannot be paid or declined again', async () => {
  const id = await created(redirect('card', { return_url: 'https://shop.example/' }));
  await choose(id, 'pay');
  const again = await choose(id, 'decline');
  expect(again.status).toBe(303);
  expect(again.headers.get('location')).toBe(`../${id}`);
  expect((await running.payment(id)).body['status']).toBe('completed');
});

test('Pay brings about what the amount forces, at once', async () => {
  const id = await created(redirect('card', { value: '9.60' }));
  await choose(id, 'pay');
  expect((await running.payment(id)).body['error']).toMatchObject({ message: 'Do not honor' });
  const stuck = await created(redirect('card', { value: '9.75' }));
  await choose(stuck, 'pay');
  expect((await running.payment(stuck)).body['status']).toBe('processing');
});

test('the card that paid on the page is shown afterwards', async () => {
  const id = await created(redirect('card'));
  expect((await running.payment(id)).body['payment_method']).not.toHaveProperty('card_mask');
  await choose(id, 'pay');
  expect((await running.payment(id)).body['payment_method']).toMatchObject({ card_mask: '5555********4444' });
});

test('a server-to-server payment can be paid on its page as well', async () => {
  const id = await created(direct('upi'));
  expect((await open(id)).text).toContain('upi link');
  await choose(id, 'pay');
  expect((await running.payment(id)).body['status']).toBe('completed');
});

test('everything a client wrote is escaped', async () => {
  const hostile = `"><script>alert(1)</script>'&`;
  const return_url = `https://shop.example/?a="><script>alert(2)</script>`;
  const id = await created(redirect('ewallet', { external_id: hostile, return_url }));
  const before = (await open(id)).text;
  await choose(id, 'pay');
  const after = (await open(id)).text;
  expect(before).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;');
  for (const text of [before, after]) expect(text).not.toContain('<script');
});

test("the policy allows the page's own style and the way back, and nothing else", async () => {
  const page = await open(await created(redirect('card', { return_url: 'http://shop.example:8080/back' })));
  const style = /<style>([^]*)<\/style>/.exec(page.text)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  expect(page.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self' http://shop.example:8080; base-uri 'none'; frame-ancestors 'none'`,
  );
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  expect(page.headers.get('x-frame-options')).toBe('DENY');
  expect(page.headers.get('cache-control')).toBe('no-store');
});

test.each(['http://shop;script-src.example/', 'http://[::1]:3000/'])(
  'a return URL at %s adds no directive',
  async (url) => {
    const page = await open(await created(redirect('card', { return_url: url })));
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' http:; base-uri");
  },
);

test('a return URL with letters beyond ASCII still leads back', async () => {
  const id = await created(redirect('card', { return_url: 'https://shop.example/zurück' }));
  expect((await choose(id, 'pay')).headers.get('location')).toBe('https://shop.example/zur%C3%BCck');
});

test('unknown payments and choices have a page of their own', async () => {
  const id = await created(redirect('card'));
  for (const answer of [await open('nothing'), await choose('nothing', 'pay'), await choose(id, 'steal')]) {
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('There is no payment at this address');
  }
});
