import { createHash } from 'node:crypto';
import { eachTest } from './fixtures/running';
import { redirect } from './fixtures/requests';

describe('The hosted page', () => {
  const running = eachTest();

  async function created(body: unknown): Promise<string> {
    return String((await running.createPayment(body)).body['transaction_id']);
  }

  const open = (id: string) => running.fetch(`pay/${id}`);
  const choose = (id: string, choice: string) => running.fetch(`pay/${id}/${choice}`, { method: 'POST' });

  test('refuses to pay or decline a settled payment', async () => {
    const id = await created(redirect({ return_url: 'https://shop.example/' }));
    await choose(id, 'pay');
    const again = await choose(id, 'decline');
    expect(again.status).toBe(303);
    expect(again.headers.get('location')).toBe(`../${id}`);
    expect((await running.payment(id)).body['status']).toBe('completed');
  });

  test('settles the payment with the outcome of its amount when the payer chooses Pay', async () => {
    const id = await created(redirect({ value: '9.60' }));
    await choose(id, 'pay');
    expect((await running.payment(id)).body['error']).toMatchObject({ message: 'Do not honor' });
    const stuck = await created(redirect({ value: '9.75' }));
    await choose(stuck, 'pay');
    expect((await running.payment(stuck)).body['status']).toBe('processing');
  });

  test('makes later lookups show the card that paid', async () => {
    const id = await created(redirect());
    expect((await running.payment(id)).body['payment_method']).not.toHaveProperty('card_mask');
    await choose(id, 'pay');
    expect((await running.payment(id)).body['payment_method']).toMatchObject({
      card_mask: '4111********1111',
    });
  });

  test('escapes all texts that come from the client', async () => {
    const hostile = `"><script>alert(1)</script>'&`;
    const return_url = `https://shop.example/?a="><script>alert(2)</script>`;
    const id = await created(redirect({ external_id: hostile, return_url }));
    const before = (await open(id)).text;
    await choose(id, 'pay');
    const after = (await open(id)).text;
    expect(before).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;');
    for (const text of [before, after]) expect(text).not.toContain('<script');
  });

  test('has a content policy that allows its own style and the way back only', async () => {
    const page = await open(await created(redirect({ return_url: 'http://shop.example:8080/back' })));
    const style = /<style>([^]*)<\/style>/.exec(page.text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(page.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self' http://shop.example:8080; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.headers.get('cache-control')).toBe('no-store');
    const hostile = await open(await created(redirect({ return_url: 'http://shop;script-src.example/' })));
    expect(hostile.headers.get('content-security-policy')).toContain("form-action 'self' http:; base-uri");
  });

  test('responds to unknown payments and choices with an error page', async () => {
    const id = await created(redirect());
    for (const response of [
      await open('nothing'),
      await choose('nothing', 'pay'),
      await choose(id, 'steal'),
    ]) {
      expect(response.status).toBe(404);
      expect(response.text).toContain('There is no payment at this address');
    }
  });
});
