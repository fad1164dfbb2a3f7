import decodeQR from 'qr/decode.js';

const PIXELS_PER_MODULE = 4;

/** Returns the dark modules of an SVG path of horizontal runs, each relative to the end of the last. */
function darkModules(path: string): [number, number][] {
  let [x, y] = [0, 0];
  return [...path.matchAll(/m(-?\d+),(-?\d+)h(\d+)/g)].flatMap(([, dx, dy, length]) => {
    const start = x + Number(dx);
    x = start + Number(length);
    y += Number(dy);
    return Array.from({ length: Number(length) }, (_, place): [number, number] => [start + place, y]);
  });
}

/** Decodes the QR code of an SVG data URI. */
function readQrImage(dataUri: string): string {
  const [, encoded] = /^data:image\/svg\+xml,([^\s"'<>#]+)$/.exec(dataUri) ?? [];
  const svg = decodeURIComponent(encoded ?? '');
  const size = Number(/viewBox="0 -.5 (\d+) \1"/.exec(svg)?.[1]);
  const width = size * PIXELS_PER_MODULE;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [x, y] of darkModules(/ stroke="black" d="([^"]+)"/.exec(svg)?.[1] ?? '')) {
    for (let pixel = 0; pixel < PIXELS_PER_MODULE ** 2; pixel += 1) {
      const row = y * PIXELS_PER_MODULE + Math.floor(pixel / PIXELS_PER_MODULE);
      const column = x * PIXELS_PER_MODULE + (pixel % PIXELS_PER_MODULE);
      data.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3);
    }
  }
  return decodeQR({ width, height: width, data });
}

/** Returns the data with every QR code image replaced by "(drawn) " and its decoded text. */
export const readDrawings = (data: unknown): unknown =>
  JSON.parse(JSON.stringify(data), (name, value: unknown) =>
    name === 'qrCodeImage' && typeof value === 'string' ? `(drawn) ${readQrImage(value)}` : value,
  );
