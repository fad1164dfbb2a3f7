import type { AskedOperation } from './admission';

/**
 * The parameters of a GET, as a body would hold them. Read as Apollo reads them: fastify's own reader differs where
 * escapes are broken or a fragment follows, and what is checked has to be what is carried out.
 */
export function readParameters(url: string): AskedOperation {
  const { extensions, ...rest } = Object.fromEntries(new URL(url, 'http://gateway/').searchParams);
  try {
    return { ...rest, ...(extensions !== undefined && { extensions: JSON.parse(extensions) as object }) };
  } catch {
    return rest;
  }
}

/** The same the other way round. */
export function writeParameters(asked: AskedOperation): URLSearchParams {
  const texts = Object.entries(asked).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
  return new URLSearchParams(texts);
}
