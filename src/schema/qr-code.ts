import encodeQR from 'qr';

/** Modules of white around the code: the quiet zone that ISO/IEC 18004 asks for. */
const QUIET_ZONE = 4;

/** The dark modules as one SVG path: a horizontal stroke for each run of them, one unit wide, row by row. */
function pathOf(rows: readonly (readonly boolean[])[]): string {
  let path = '';
  let [penX, penY] = [0, 0];
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x += 1) {
      if (!row[x]) continue;
      const start = x;
      while (row[x]) x += 1;
      path += `m${start - penX},${y - penY}h${x - start}`;
      [penX, penY] = [x, y];
    }
  }
  return path;
}

/** A text drawn as a QR code: an SVG data URI, or null when the text does not fit into one. */
export function drawQrCode(text: string): string | null {
  try {
    const rows = encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_ZONE });
    const size = rows.length;
    // Strokes are centred on y = 0, 1, 2 …: the picture begins half a unit above. crispEdges leaves no gaps between rows.
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -.5 ${size} ${size}" shape-rendering="crispEdges"><path fill="white" d="M0-.5h${size}v${size}H0z"/><path stroke="black" d="${pathOf(rows)}"/></svg>`;
    return `data:image/svg+xml,${svg.replace(/[<>" ]/g, encodeURIComponent)}`;
  } catch {
    return null;
  }
}
