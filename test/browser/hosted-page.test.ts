import { CHANNEL } from '../support/gateway';
import { inBrowser, overhang, picture, tooFaint } from './chromium';
import { Shop } from './shop';

const CHOICES = [
  ['Pay 10.00 EUR', { status: 'COMPLETED', error: null, amount: { value: '10.00', received: null } }],
  ['Decline', { status: 'FAILED', error: { code: 'DECLINED_GENERIC' } }],
  ['Pay less: 5.00 EUR', { status: 'MISPAID', amount: { value: '10.00', received: '5.00' } }],
] as const;

inBrowser('The hosted page', (browser) => {
  let shop: Shop;

  beforeAll(async () => {
    shop = await Shop.open();
  });

  describe.each([
    ['with scripts', true],
    ['with scripts switched off', false],
  ])('%s', (_how, javaScriptEnabled) => {
    test.each(CHOICES)('"%s" leads back to the shop, and the gateway knows', async (button, outcome) => {
      const { transactionId, redirectUrl } = await shop.sell();
      const { page, faults } = await browser.open({ javaScriptEnabled });
      await page.goto(redirectUrl);
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.waitForURL(shop.returnUrl);
      expect(await page.getByRole('heading').textContent()).toBe('Thank you');
      expect(await shop.look(transactionId)).toMatchObject(outcome);
      expect(faults).toEqual([]);
    });
  });

  test('shows the payer who asks for how much, by which method and for which order', async () => {
    const { redirectUrl } = await shop.sell({ externalId: 'order 4711' });
    const { page, faults } = await browser.open();
    await page.goto(redirectUrl);
    const text = await page.locator('main').innerText();
    for (const shown of ['10.00 EUR', 'card', CHANNEL, 'order 4711', 'no real money']) {
      expect(text).toContain(shown);
    }
    expect(faults).toEqual([]);
    await picture(page, 'hosted-page');
  });

  test('can be used with the keyboard alone', async () => {
    const { transactionId, redirectUrl } = await shop.sell();
    const { page } = await browser.open();
    await page.goto(redirectUrl);
    await page.keyboard.press('Tab');
    await picture(page, 'hosted-page-focus');
    await page.keyboard.press('Enter');
    await page.waitForURL(shop.returnUrl);
    expect(await shop.look(transactionId)).toMatchObject({ status: 'COMPLETED' });
  });

  test.each(CHOICES)('a payer who opens it again after "%s" is told so and can go back', async (button) => {
    const { redirectUrl } = await shop.sell();
    const { page, faults } = await browser.open();
    await page.goto(redirectUrl);
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.waitForURL(shop.returnUrl);
    await page.goto(redirectUrl);
    await picture(page, `settled-${button.split(/\W/, 2).join('-').toLowerCase()}`);
    expect(await page.locator('main').innerText()).toContain('settled already');
    expect(await page.getByRole('button').count()).toBe(0);
    await page.getByRole('link', { name: 'Back to the merchant' }).click();
    await page.waitForURL(shop.returnUrl);
    expect(faults).toEqual([]);
  });

  test('a payer whom no shop awaits sees the result on the page', async () => {
    const { redirectUrl } = await shop.sell({ returnUrl: undefined });
    const { page, faults } = await browser.open();
    await page.goto(redirectUrl);
    await page.getByRole('button', { name: 'Pay 10.00 EUR' }).click();
    await page.getByRole('heading', { name: 'This payment is paid' }).waitFor();
    expect(page.url()).toBe(redirectUrl);
    expect(faults).toEqual([]);
  });

  test('markup from the merchant is text on the page, never markup', async () => {
    const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'&amp;<a href="javascript:alert(3)">x`;
    const { redirectUrl } = await shop.sell({
      externalId: hostile,
      description: hostile,
      returnUrl: `${shop.returnUrl}&a='${encodeURIComponent('"><script>alert(4)</script>')}`,
    });
    const { page, faults } = await browser.open();
    await page.goto(redirectUrl);
    expect(await page.locator('main').innerText()).toContain(hostile);
    expect(await page.locator('script, img, main a').count()).toBe(0);
    await picture(page, 'hosted-page-hostile');
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.waitForURL(/thanks/);
    expect(faults).toEqual([]);
  });

  test.each([
    ['a short order', { externalId: 'order-1' }],
    ['an order of 255 letters without a break', { externalId: 'W'.repeat(255) }],
    ['a very large amount', { amount: { currency: 'EUR', value: '999999999999999.99' } }],
    ['a QR payment', { method: { redirect: 'QRIS' }, amount: { currency: 'IDR', value: '150000.00' } }],
    [
      'a long UPI link',
      { method: { upi: { phone: '919876543210' } }, amount: { currency: 'INR', value: '1.00' } },
    ],
  ])('nothing hangs over the edge of a small phone: %s', async (what, order) => {
    const { redirectUrl } = await shop.sell(order);
    const { page } = await browser.open({ viewport: { width: 320, height: 640 }, isMobile: true });
    await page.goto(redirectUrl);
    await picture(page, `phone-${what.replaceAll(' ', '-')}`);
    expect(await overhang(page)).toBe(0);
  });

  test.each(['light', 'dark'] as const)(
    'every text stands out enough from a %s screen',
    async (colorScheme) => {
      const { redirectUrl } = await shop.sell();
      const { page } = await browser.open({ colorScheme });
      await page.goto(redirectUrl);
      await picture(page, `hosted-page-${colorScheme}`);
      // WCAG 2.2, success criterion 1.4.3.
      expect(await tooFaint(page)).toEqual([]);
    },
  );
});
