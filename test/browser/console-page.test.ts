import type { Page } from 'playwright-core';
import { inBrowser, overhang, picture } from './chromium';
import { Shop } from './shop';

inBrowser("The sandbox's console", (browser) => {
  let shop: Shop;

  beforeEach(async () => {
    shop = await Shop.open({ control: true });
  });

  const openConsole = async () => {
    const opened = await browser.open();
    await opened.page.goto(`${shop.sandbox.url}_sandbox/?live=off`);
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
    const { page, faults } = await openConsole();
    const row = page.getByRole('row').filter({ hasText: mine.transactionId });
    await row.getByRole('button', { name: button, exact: true }).click();
    await page.waitForURL(`${shop.sandbox.url}_sandbox/`);
    expect(await row.getByRole('button').count()).toBe(0);
    expect(await shop.look(mine.transactionId)).toMatchObject(outcome);
    expect(await shop.look(other.transactionId)).toMatchObject({ status: 'PENDING' });
    expect(faults).toEqual([]);
  });

  test('the clock can be pushed on, and what then falls due has happened', async () => {
    const { transactionId } = await shop.sell({ amount: { currency: 'EUR', value: '10.51' } });
    const { page, faults } = await openConsole();
    await press(page, '5 s on');
    expect(await shop.look(transactionId)).toMatchObject({ status: 'FAILED' });
    expect(faults).toEqual([]);
  });

  test('the next requests can be made to fail', async () => {
    const { page, faults } = await openConsole();
    await page.getByLabel('Operation').selectOption('create');
    await page.getByLabel('Fault').selectOption('status');
    await page.getByRole('spinbutton', { name: 'Status' }).fill('422');
    await press(page, 'Inject');
    expect(await page.locator('main').innerText()).toContain('Waiting: status for 1');
    await expect(shop.sell()).rejects.toThrow('A fault of the service');
    await expect(shop.sell()).resolves.toBeDefined();
    expect(faults).toEqual([]);
  });

  test('everything can be forgotten', async () => {
    const { transactionId } = await shop.sell();
    const { page, faults } = await openConsole();
    await press(page, 'Forget everything');
    expect(await page.getByText(transactionId).count()).toBe(0);
    expect(await shop.look(transactionId)).toBeNull();
    expect(faults).toEqual([]);
  });

  test('it shows new payments by itself', async () => {
    const { page } = await browser.open();
    await page.goto(`${shop.sandbox.url}_sandbox/`);
    const { transactionId } = await shop.sell();
    await page.getByText(transactionId).waitFor();
  });

  test('all of it is in sight, on a phone only its table scrolls sideways, and markup in it is text', async () => {
    const hostile = '<img src=x onerror=alert(1)>';
    await shop.sell({ externalId: hostile });
    await shop.sell({ amount: { currency: 'EUR', value: '10.51' } });
    const { page: wide, faults } = await openConsole();
    expect(await wide.locator('main').innerText()).toContain(hostile);
    expect(await wide.locator('img, script').count()).toBe(0);
    await picture(wide, 'console');
    expect(await overhang(wide, '.scroll')).toBe(0);
    const { page } = await browser.open({ viewport: { width: 360, height: 640 }, isMobile: true });
    await page.goto(`${shop.sandbox.url}_sandbox/?live=off`);
    await picture(page, 'console-phone');
    expect(await overhang(page)).toBe(0);
    expect(faults).toEqual([]);
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
