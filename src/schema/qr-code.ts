import encodeQR from 'qr';

/** A text drawn as a QR code: an SVG data URI, or null when the text does not fit into one. */
export function drawQrCode(text: string): string | null {
  try {
    const svg = encodeQR(text, 'svg', { ecc: 'medium', border: 4 });
    return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
  } catch {
    return null;
  }
}
