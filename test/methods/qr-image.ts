import decodeQR from 'qr/decode.js';

const PIXELS_PER_MODULE = 4;

/** Where the black modules of a drawing begin: its path is one square after another, each placed relative to the last. */
function blackModules(path: string): [number, number][] {
  let [x, y] = [0, 0];
  return [...path.matchAll(/([Mm]) ?(-?\d+)[ ,]?(-?\d+)/g)].map(([, move, dx, dy]) => {
    [x, y] = move === 'M' ? [Number(dx), Number(dy)] : [x + Number(dx), y + Number(dy)];
    return [x, y];
  });
}

/** Reads a QR code back as a phone would: from an SVG data URI to the text in it. */
export function readQrImage(dataUri: string): string {
  const [, base64] = /^data:image\/svg\+xml;base64,(.+)$/.exec(dataUri) ?? [];
  const svg = Buffer.from(base64 ?? '', 'base64').toString('utf8');
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const width = size * PIXELS_PER_MODULE;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [x, y] of blackModules(/ d="([^"]+)"/.exec(svg)?.[1] ?? '')) {
    for (let pixel = 0; pixel < PIXELS_PER_MODULE ** 2; pixel += 1) {
      const row = y * PIXELS_PER_MODULE + Math.floor(pixel / PIXELS_PER_MODULE);
      const column = x * PIXELS_PER_MODULE + (pixel % PIXELS_PER_MODULE);
      data.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3);
    }
  }
  return decodeQR({ width, height: width, data });
}

/** The same data with every drawn QR code replaced by "(drawn) " and the text that can be read in it. */
export function readDrawings(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(readDrawings);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]: [string, unknown]) =>
      name === 'qrCodeImage' && typeof value === 'string'
        ? [name, `(drawn) ${readQrImage(value)}`]
        : [name, readDrawings(value)],
    ),
  );
}
