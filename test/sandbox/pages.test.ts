import { createHash } from 'node:crypto';
import { eachTest } from './fixtures/running';
import { redirect } from './fixtures/requests';

describe('The hosted payment page of the sandbox', () => {
  const running = eachTest();

  const open = (id: string) => running.fetch(`pay/${id}`);
  const choose = (id: string, choice: string) => running.fetch(`pay/${id}/${choice}`, { method: 'POST' });

  test('does not decline a payment that is already paid, and lookups show the card that paid', async () => {
    const id = await running.created(redirect({ return_url: 'https://shop.example/' }));
    const lookUp = async () => (await running.payment(id)).body;
    expect((await lookUp())['payment_method']).not.toHaveProperty('card_mask');
    await choose(id, 'pay');
    const again = await choose(id, 'decline');
    expect([again.status, again.headers.get('location')]).toEqual([303, `../${id}`]);
    const payment_method = { card_mask: '4111********1111' };
    expect(await lookUp()).toMatchObject({ status: 'completed', payment_method });
  });

  test('gives the payment the outcome that its amount selects, once the payer chooses Pay', async () => {
    const id = await running.created(redirect({ value: '9.60' }));
    await choose(id, 'pay');
    expect((await running.payment(id)).body['error']).toMatchObject({ message: 'Do not honor' });
    const stuck = await running.created(redirect({ value: '9.75' }));
    await choose(stuck, 'pay');
    expect((await running.payment(stuck)).body['status']).toBe('processing');
  });

  test('escapes all texts that come from the client', async () => {
    const hostile = `"><script>alert(1)</script>'&`;
    const return_url = `https://shop.example/?a="><script>alert(2)</script>`;
    const id = await running.created(redirect({ external_id: hostile, return_url }));
    const before = (await open(id)).text;
    await choose(id, 'pay');
    const after = (await open(id)).text;
    expect(before).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;');
    for (const text of [before, after]) expect(text).not.toContain('<script');
  });

  test('has a content security policy that allows only its own style and a form that returns to the shop', async () => {
    const page = await open(await running.created(redirect({ return_url: 'http://shop.example:8080/back' })));
    const style = /<style>([^]*)<\/style>/.exec(page.text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(page.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self' http://shop.example:8080; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    });
    const injecting = redirect({ return_url: 'http://shop;script-src.example/' });
    const hostile = await open(await running.created(injecting));
    expect(hostile.headers.get('content-security-policy')).toContain("form-action 'self' http:; base-uri");
  });

  test('responds with 404 to unknown payments and choices', async () => {
    const id = await running.created(redirect());
    for (const asking of [open('nothing'), choose('nothing', 'pay'), choose(id, 'steal')])
      expect((await asking).status).toBe(404);
  });
});
