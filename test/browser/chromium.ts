import { existsSync } from 'node:fs';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core';

/** The headless shell comes first: it has no windows, and needs half the processor time of the whole browser. */
const INSTALLED = ['chromium-headless-shell', 'chromium', 'google-chrome'].map((name) => `/usr/bin/${name}`);
const PLACES = [process.env['CHROMIUM_PATH'], ...INSTALLED];
const executablePath = PLACES.find((path) => path && existsSync(path));

export interface Opened {
  page: Page;
  /** Errors of scripts and of the content policy, failed requests, responses of 400 and above, and dialogs. */
  problems: string[];
}

/** One browser for a test file; each page has a context of its own. */
export class TestBrowser {
  #browser: Browser | undefined;
  readonly #contexts: BrowserContext[] = [];

  async start(): Promise<void> {
    this.#browser = await chromium.launch({
      executablePath,
      chromiumSandbox: false,
      args: ['--disable-gpu', '--disable-quic', '--disable-sync'],
    });
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
  }

  async closePages(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
  }

  async open(options: BrowserContextOptions = {}): Promise<Opened> {
    const context = await this.#browser!.newContext(options);
    this.#contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('requestfailed', (request) =>
      problems.push(`${request.url()} ${request.failure()?.errorText ?? ''}`),
    );
    page.on('dialog', (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    return { page, problems };
  }
}

/** Defines tests in a browser. If none is installed, it defines a skipped test that names what is missing. */
export function describeInBrowser(title: string, tests: (browser: TestBrowser) => void): void {
  if (!executablePath) {
    const skipped = `SKIPPED: no browser at CHROMIUM_PATH, ${INSTALLED.join(', ')}: ${title}`;
    console.warn(skipped);
    test.skip(skipped, () => undefined);
    return;
  }
  describe(title, () => {
    const browser = new TestBrowser();
    beforeAll(() => browser.start());
    afterAll(() => browser.stop());
    tests(browser);
  });
}

/** Script that returns the texts with a contrast below 4.5 to 1 (WCAG 2.2, success criterion 1.4.3). */
const LOW_CONTRAST_SCRIPT = `(() => {
  const rgba = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (channel) => (channel <= 10 ? channel / 3294 : ((channel / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) => 0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue);
  const behind = (element) => {
    const colour = rgba(getComputedStyle(element).backgroundColor);
    return colour[3] === 0 ? behind(element.parentElement) : colour;
  };
  const texts = [...document.querySelectorAll('main *')].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''));
  return texts.map((element) => {
    const [ink, paper] = [rgba(getComputedStyle(element).color), behind(element)].map(luminance);
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    return [element.textContent.trim(), ratio];
  }).filter(([, ratio]) => ratio < 4.5).map(([text, ratio]) => text + ': ' + ratio.toFixed(2));
})()`;

export const lowContrastTexts = (page: Page): Promise<string[]> => page.evaluate(LOW_CONTRAST_SCRIPT);
