import type { Page } from 'playwright-core';
import { testSandbox } from '../support/gateway';
import { inBrowser, overhang, picture, type Opened, type TestBrowser } from './chromium';
import { Shop } from './shop';

/** What a page asks while it is left is broken off: that is nobody's fault. */
const BROKEN_OFF = /\/_sandbox\/(events)? net::ERR_ABORTED$/;
const mishaps = ({ faults }: Opened) => faults.filter((fault) => !BROKEN_OFF.test(fault));

const shows = (page: Page, status: string) =>
  page.getByRole('status').getByText(status, { exact: true }).waitFor();

inBrowser("The sandbox's console", (browser) => {
  let shop: Shop;

  beforeEach(async () => {
    shop = await Shop.open({ control: true });
  });

  const openConsole = async (options: Parameters<TestBrowser['open']>[0] = {}) => {
    const opened = await browser.open(options);
    await opened.page.goto(`${shop.sandbox.url}_sandbox/`);
    return opened;
  };
  const press = async (page: Page, name: string) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.waitForURL(`${shop.sandbox.url}_sandbox/`);
  };

  test.each([
    ['settle', { status: 'COMPLETED' }],
    ['decline', { status: 'FAILED', error: { code: 'DECLINED_GENERIC' } }],
    ['underpay', { status: 'MISPAID', amount: { value: '10.00', received: '5.00' } }],
  ])('"%s" changes the payment of its row and no other', async (button, outcome) => {
    const mine = await shop.sell({ externalId: 'mine' });
    const other = await shop.sell({ externalId: 'other' });
    const opened = await openConsole();
    const { page } = opened;
    const row = page.getByRole('row').filter({ hasText: mine.transactionId });
    await row.getByRole('button', { name: button, exact: true }).click();
    await page.waitForURL(`${shop.sandbox.url}_sandbox/`);
    expect(await row.getByRole('button').count()).toBe(0);
    expect(await shop.look(mine.transactionId)).toMatchObject(outcome);
    expect(await shop.look(other.transactionId)).toMatchObject({ status: 'PENDING' });
    expect(mishaps(opened)).toEqual([]);
  });

  test('the clock can be pushed on, and what then falls due has happened', async () => {
    const { transactionId } = await shop.sell({ amount: { currency: 'EUR', value: '10.51' } });
    const opened = await openConsole();
    const { page } = opened;
    await press(page, '5 s on');
    expect(await shop.look(transactionId)).toMatchObject({ status: 'FAILED' });
    expect(mishaps(opened)).toEqual([]);
  });

  test('the next requests can be made to fail', async () => {
    const opened = await openConsole();
    const { page } = opened;
    await page.getByLabel('Operation').selectOption('create');
    await page.getByLabel('Fault').selectOption('status');
    await page.getByRole('spinbutton', { name: 'Status' }).fill('422');
    await press(page, 'Inject');
    expect(await page.locator('main').innerText()).toContain('Waiting: status for 1');
    await expect(shop.sell()).rejects.toThrow('A fault of the service');
    await expect(shop.sell()).resolves.toBeDefined();
    expect(mishaps(opened)).toEqual([]);
  });

  test('everything can be forgotten', async () => {
    const { transactionId } = await shop.sell();
    const opened = await openConsole();
    const { page } = opened;
    await press(page, 'Forget everything');
    expect(await page.getByText(transactionId).count()).toBe(0);
    expect(await shop.look(transactionId)).toBeNull();
    expect(mishaps(opened)).toEqual([]);
  });

  test('it shows what happens by itself, without being loaded again', async () => {
    const opened = await openConsole();
    const { page } = opened;
    await shows(page, 'Live.');
    await page.evaluate('globalThis.loadedOnce = true');
    const { transactionId } = await shop.sell();
    const row = page.getByRole('row').filter({ hasText: transactionId });
    await row.getByText('pending').waitFor();
    await page.getByText('Payments: 1 created').waitFor();
    shop.sandbox.control.settle(transactionId);
    await row.getByText('completed').waitFor();
    shop.sandbox.control.inject({ operation: 'lookup', fault: 'cut_after', times: 2 });
    shop.sandbox.control.inject({ operation: 'lookup', fault: 'cut_after', times: 2 });
    await page.getByText('Waiting: cut_after for 2').nth(1).waitFor();
    shop.sandbox.control.advance(60_000);
    await page.getByText('1 min ahead of the real time.').waitFor();
    expect(await page.getByText('Waiting').count()).toBe(2);
    shop.sandbox.control.reset();
    await row.waitFor({ state: 'detached' });
    expect(await page.getByText('Waiting').count()).toBe(0);
    expect(await page.evaluate('globalThis.loadedOnce')).toBe(true);
    expect(mishaps(opened)).toEqual([]);
  });

  test('what is half typed stays, and the cursor in it', async () => {
    const { page } = await openConsole();
    await shows(page, 'Live.');
    await page.getByLabel('Fault').selectOption('delay');
    const delay = page.getByLabel('Delay, ms');
    await delay.fill('');
    await delay.pressSequentially('12');
    const { transactionId } = await shop.sell();
    await page.getByText(transactionId).waitFor();
    await page.keyboard.type('34');
    expect(await delay.inputValue()).toBe('1234');
    expect(await page.getByLabel('Fault').inputValue()).toBe('delay');
  });

  test('a button that has the focus keeps it, while rows come and its own changes', async () => {
    const mine = await shop.sell();
    const { page } = await openConsole();
    await shows(page, 'Live.');
    const row = page.getByRole('row').filter({ hasText: mine.transactionId });
    await row.getByRole('button', { name: 'settle' }).focus();
    const other = await shop.sell();
    await page.getByText(other.transactionId).waitFor();
    await fetch(mine.redirectUrl);
    await row.getByText('processing').waitFor();
    await page.keyboard.press('Enter');
    await row.getByText('completed').waitFor();
    expect(await shop.look(mine.transactionId)).toMatchObject({ status: 'COMPLETED' });
    expect(await shop.look(other.transactionId)).toMatchObject({ status: 'PENDING' });
  });

  test('a button that is just being pressed is not taken from under the pointer', async () => {
    const mine = await shop.sell();
    const { page } = await openConsole();
    await shows(page, 'Live.');
    const row = page.getByRole('row').filter({ hasText: mine.transactionId });
    await row.getByRole('button', { name: 'settle' }).hover();
    await page.mouse.down();
    await shop.look(mine.transactionId);
    await page.getByText('1 lookups').waitFor();
    await page.mouse.up();
    await row.getByText('completed').waitFor();
  });

  test('when the sandbox stops the page says so, and after a start it is live again', async () => {
    const before = await shop.sell();
    const { page, faults } = await openConsole();
    await shows(page, 'Live.');
    await page.getByLabel('Delay, ms').fill('77');
    await shop.sandbox.close();
    await shows(page, 'Not live, trying again.');
    await picture(page, 'console-not-live');
    await testSandbox({ control: true, port: Number(new URL(shop.sandbox.url).port) });
    await shows(page, 'Live.');
    expect(await page.getByText(before.transactionId).count()).toBe(0);
    const after = await shop.sell();
    await page.getByText(after.transactionId).waitFor();
    expect(await page.getByLabel('Delay, ms').inputValue()).toBe('77');
    expect(faults.filter((fault) => /policy/i.test(fault))).toEqual([]);
  });

  test('where too many listen it goes on asking, until there is room', async () => {
    const others = await Promise.all(
      Array.from({ length: 32 }, () => fetch(`${shop.sandbox.url}_sandbox/events`)),
    );
    const { page } = await openConsole();
    await shows(page, 'Not live, trying again.');
    for (const { body } of others) await body?.cancel();
    await shows(page, 'Live.');
  });

  test('a tab in the background listens to nothing, and is right again when it is looked at', async () => {
    const { page } = await openConsole();
    await shows(page, 'Live.');
    const turn = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
        document.dispatchEvent(new Event('visibilitychange'));`);
    const letGo = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/events'));
    await turn(true);
    await Promise.all([letGo, shows(page, 'Not live.')]);
    const { transactionId } = await shop.sell();
    await turn(false);
    await page.getByText(transactionId).waitFor();
    await shows(page, 'Live.');
  });

  test('a tab that was opened in the background listens only when it is looked at', async () => {
    const { page } = await browser.open();
    await page.addInitScript(`document.addEventListener('visibilitychange', () => delete document.hidden, true);
      Object.defineProperty(document, 'hidden', { configurable: true, value: true });`);
    const streams: string[] = [];
    page.on('request', (request) => request.url().endsWith('/events') && streams.push(request.url()));
    await page.goto(`${shop.sandbox.url}_sandbox/`);
    await shows(page, 'Not live.');
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await shows(page, 'Live.');
    expect(streams).toHaveLength(1);
  });

  test('its policy lets no other script run', async () => {
    const opened = await openConsole();
    await shows(opened.page, 'Live.');
    await opened.page.evaluate(`(() => {
      const script = document.createElement('script');
      script.textContent = 'globalThis.strange = true';
      document.body.append(script);
    })()`);
    expect(await opened.page.evaluate('globalThis.strange')).toBeUndefined();
    expect(mishaps(opened)).toEqual([expect.stringContaining('Content Security Policy')]);
  });

  test('without scripts it stands still, and can be refreshed', async () => {
    const { page, faults } = await openConsole({ javaScriptEnabled: false });
    await shows(page, 'Not live.');
    const { transactionId } = await shop.sell();
    await page.getByRole('link', { name: 'Refresh' }).click();
    await page.getByText(transactionId).waitFor();
    await press(page, 'Forget everything');
    expect(await page.getByText(transactionId).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('all of it is in sight, on a phone only its table scrolls sideways, and markup in it is text', async () => {
    const hostile = '<img src=x onerror=alert(1)>';
    await shop.sell({ externalId: hostile });
    await shop.sell({ amount: { currency: 'EUR', value: '10.51' } });
    const opened = await openConsole();
    const { page: wide } = opened;
    await shows(wide, 'Live.');
    shop.sandbox.control.advance(5000);
    await wide.getByText('failed, PROVIDER_PROCESSING_FAILED').waitFor();
    expect(await wide.locator('main').innerText()).toContain(hostile);
    expect(await wide.locator('img').count()).toBe(0);
    await picture(wide, 'console');
    expect(await overhang(wide, '.scroll')).toBe(0);
    const { page } = await openConsole({ viewport: { width: 360, height: 640 }, isMobile: true });
    await picture(page, 'console-phone');
    expect(await overhang(page)).toBe(0);
    expect(mishaps(opened)).toEqual([]);
  });

  test('a page of another site cannot press its buttons', async () => {
    const { transactionId } = await shop.sell();
    const { page } = await browser.open();
    await page.goto(shop.returnUrl);
    const action = `${shop.sandbox.url}_sandbox/transactions/${transactionId}/settle`;
    await page.setContent(`<form method="post" action="${action}"><button>Win a prize</button></form>`);
    await page.getByRole('button').click();
    await page.waitForURL(action);
    expect(await shop.look(transactionId)).toMatchObject({ status: 'PENDING' });
  });
});
