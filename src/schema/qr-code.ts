import { LRUCache } from 'lru-cache';
import encodeQR from 'qr';

/** Width of a QR code's white border in modules (ISO/IEC 18004). */
const QUIET_ZONE_MODULES = 4;

/** Returns an SVG path. It draws adjacent dark modules of the same row as one horizontal stroke of width 1. */
function pathOfDarkModules(rows: readonly (readonly boolean[])[]): string {
  let path = '';
  let [penX, penY] = [0, 0];
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x += 1) {
      if (!row[x]) continue;
      const startX = x;
      while (row[x]) x += 1;
      path += `m${startX - penX},${y - penY}h${x - startX}`;
      [penX, penY] = [x, y];
    }
  }
  return path;
}

/** Encodes a text. Returns '' if the text is too long for a QR code. */
function encodeAsSvgDataUri(text: string): string {
  try {
    const rows = encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_ZONE_MODULES });
    const moduleCount = rows.length;
    // Strokes are centred on y = 0, 1, 2 …, so the view box starts at -0.5. crispEdges avoids gaps between rows.
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -.5 ${moduleCount} ${moduleCount}" shape-rendering="crispEdges"><path fill="white" d="M0-.5h${moduleCount}v${moduleCount}H0z"/><path stroke="black" d="${pathOfDarkModules(rows)}"/></svg>`;
    return `data:image/svg+xml,${svg.replace(/[<>" ]/g, encodeURIComponent)}`;
  } catch {
    return '';
  }
}

/** Cache of encoded texts. An operation may select the image of one payment many times, through aliases. */
const dataUriCache = new LRUCache<string, string>({ max: 16, memoMethod: encodeAsSvgDataUri });

/** Returns a QR code of the text as an SVG data URI; null if the text is too long for a QR code. */
export const qrCodeAsSvgDataUri = (text: string): string | null => dataUriCache.memo(text) || null;
